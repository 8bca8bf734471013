import { describe, expect, it } from 'vitest';
import { PhaseProgress } from '../../../../functions/import/progress/importProgress.ts';

describe('the progress of a phase', () => {
  it('is nothing at first', () => {
    const progress = new PhaseProgress();
    expect(progress.state()).toEqual({ settled: 0, revisit: [] });
    expect(progress.isDone(0)).toBe(false);
  });

  it('takes what an earlier call has brought in for done, save what is to be looked at again', () => {
    const progress = new PhaseProgress({ settled: 3, revisit: [1] });
    expect([0, 1, 2, 3].map((ordinal) => progress.isDone(ordinal))).toEqual([true, false, true, false]);
  });

  it('does not take for done what this call has decided, since each record is met once', () => {
    const progress = new PhaseProgress();
    progress.settle(0, false);
    expect(progress.isDone(0)).toBe(false);
  });

  it('is kept with what has something to tell, until it has no more', () => {
    const progress = new PhaseProgress({ settled: 3, revisit: [1] });
    progress.settle(1, false);
    progress.settle(3, true);
    expect(progress.state()).toEqual({ settled: 4, revisit: [3] });
  });

  it('never goes back when records of an earlier call are decided again', () => {
    const progress = new PhaseProgress({ settled: 9, revisit: [2] });
    progress.settle(2, true);
    expect(progress.state()).toEqual({ settled: 9, revisit: [2] });
  });

  it('can note a record before those in front of it are decided', () => {
    const progress = new PhaseProgress();
    progress.mark(7, true);
    expect(progress.state()).toEqual({ settled: 0, revisit: [7] });
  });

  it.each([
    [{ settled: 5, revisit: [] }, 5, true],
    [{ settled: 4, revisit: [] }, 5, false],
    [{ settled: 5, revisit: [3] }, 5, false],
  ])('of %j is complete for %i records: %s', (state, records, complete) => {
    expect(new PhaseProgress(state).isComplete(records)).toBe(complete);
  });
});
