import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PhaseProgress, type PhaseState } from '../../../../functions/import/progress/phaseProgress.ts';

describe('the progress of a phase', () => {
  it('is nothing at first', () => {
    const progress = new PhaseProgress();
    expect(progress.state()).toEqual({ settled: 0, revisit: [] });
    expect(progress.isDone(0)).toBe(false);
  });

  it('takes what an earlier call has brought in for done, save what is to be looked at again', () => {
    const progress = new PhaseProgress({ settled: 3, revisit: [[1, 2]] });
    expect([0, 1, 2, 3].map((ordinal) => progress.isDone(ordinal))).toEqual([true, false, true, false]);
  });

  it('does not take for done what this call has decided, since each record is met once', () => {
    const progress = new PhaseProgress();
    progress.settle(0, false);
    expect(progress.isDone(0)).toBe(false);
  });

  it('is kept with what has something to tell, until it has no more', () => {
    const progress = new PhaseProgress({ settled: 3, revisit: [[1, 2]] });
    progress.settle(1, false);
    progress.settle(3, true);
    expect(progress.state()).toEqual({ settled: 4, revisit: [[3, 4]] });
  });

  it('never goes back when records of an earlier call are decided again', () => {
    const progress = new PhaseProgress({ settled: 9, revisit: [[2, 3]] });
    progress.settle(2, true);
    expect(progress.state()).toEqual({ settled: 9, revisit: [[2, 3]] });
  });

  it('can note a record before those in front of it are decided', () => {
    const progress = new PhaseProgress();
    progress.mark(7, true);
    expect(progress.state()).toEqual({ settled: 0, revisit: [[7, 8]] });
  });

  it.each<[PhaseState, number, boolean]>([
    [{ settled: 5, revisit: [] }, 5, true],
    [{ settled: 4, revisit: [] }, 5, false],
    [{ settled: 5, revisit: [[3, 4]] }, 5, false],
  ])('of %j is complete for %i records: %s', (state, records, complete) => {
    expect(new PhaseProgress(state).isComplete(records)).toBe(complete);
  });

  it('takes for done what was settled and is not to be looked at again, and is complete only with all of it', () => {
    const anyStep = fc.record({
      does: fc.constantFrom('settle' as const, 'mark' as const),
      ordinal: fc.nat({ max: 9 }),
      revisit: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(anyStep, { maxLength: 12 }), (steps) => {
        const progress = new PhaseProgress();
        for (const { does, ordinal, revisit } of steps) progress[does](ordinal, revisit);
        const state: PhaseState = JSON.parse(JSON.stringify(progress.state()));
        const resumed = new PhaseProgress(state);
        const settled = Math.max(0, ...steps.filter(({ does }) => does === 'settle').map(({ ordinal }) => ordinal + 1));
        const isOpen = (ordinal: number) => steps.findLast((step) => step.ordinal === ordinal)?.revisit === true;
        const ordinals = Array.from({ length: 10 }, (_, ordinal) => ordinal);
        const done = ordinals.map((ordinal) => ordinal < settled && !isOpen(ordinal));
        expect(ordinals.map((ordinal) => resumed.isDone(ordinal))).toEqual(done);
        for (const records of ordinals)
          expect(resumed.isComplete(records)).toBe(records <= settled && !ordinals.some(isOpen));
      }),
    );
  });
});
