import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PhaseProgress, type PhaseState } from '../../../../functions/import/resume/phaseProgress.ts';

const opened = (progress: PhaseProgress, ordinals: readonly number[]) =>
  ordinals.filter((ordinal) => progress.open(ordinal));

describe('the progress of a phase', () => {
  it('covers nothing at first', () => {
    const progress = new PhaseProgress();
    expect(progress.state()).toEqual({ read: 0, open: [] });
    expect(progress.open(0)).toBe(true);
  });

  it('skips what an earlier call imported, except open records', () => {
    const progress = new PhaseProgress({ read: 3, open: [[1, 2]] });
    expect(opened(progress, [0, 1, 2, 3])).toEqual([1, 3]);
  });

  it('keeps a record open from the moment it is read until it has an outcome', () => {
    const progress = new PhaseProgress();
    opened(progress, [0, 1, 2, 3]);
    expect(progress.state()).toEqual({ read: 4, open: [[0, 4]] });
    progress.close(2);
    expect(progress.state()).toEqual({
      read: 4,
      open: [
        [0, 2],
        [3, 4],
      ],
    });
  });

  it('never goes back when open records of an earlier call are decided', () => {
    const progress = new PhaseProgress({ read: 9, open: [[2, 3]] });
    progress.open(2);
    expect(progress.state()).toEqual({ read: 9, open: [[2, 3]] });
    progress.close(2);
    expect(progress.state()).toEqual({ read: 9, open: [] });
  });

  it.each<[PhaseState, number, boolean]>([
    [{ read: 5, open: [] }, 5, true],
    [{ read: 4, open: [] }, 5, false],
    [{ read: 5, open: [[3, 4]] }, 5, false],
  ])('of %j is complete for %i records: %s', (state, records, complete) => {
    expect(new PhaseProgress(state).isComplete(records)).toBe(complete);
  });

  it('covers only records with an outcome, in whichever order outcomes come, over several calls', () => {
    const call = fc.record({ read: fc.nat(60), closed: fc.uniqueArray(fc.nat(59)) });
    fc.assert(
      fc.property(fc.array(call, { maxLength: 4 }), (calls) => {
        const everClosed = new Set<number>();
        let state: PhaseState = new PhaseProgress().state();
        for (const { read, closed } of calls) {
          const progress = new PhaseProgress(state);
          const open = opened(progress, range(read));
          for (const ordinal of closed.filter((one) => open.includes(one))) {
            progress.close(ordinal);
            everClosed.add(ordinal);
          }
          state = JSON.parse(JSON.stringify(progress.state()));
        }
        const resumed = new PhaseProgress(state);
        const skipped = range(60).filter((ordinal) => !resumed.open(ordinal));
        expect(skipped).toEqual([...everClosed].sort((a, b) => a - b));
        for (const records of range(60))
          expect(new PhaseProgress(state).isComplete(records)).toBe(state.read >= records && state.open.length === 0);
      }),
    );
  });
});

function range(count: number): number[] {
  return Array.from({ length: count }, (_, ordinal) => ordinal);
}
