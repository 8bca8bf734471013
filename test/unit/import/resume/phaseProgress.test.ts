import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { OrdinalRanges, PhaseProgress, type PhaseState } from '../../../../functions/import/resume/phaseProgress.ts';

const opened = (progress: PhaseProgress, ordinals: readonly number[]) =>
  ordinals.filter((ordinal) => progress.open(ordinal));

describe('the progress of a phase', () => {
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

const changes = (max: number, size: number) =>
  fc.array(fc.record({ add: fc.boolean(), ordinal: fc.nat({ max }) }), { maxLength: size });

describe('ranges of ordinals', () => {
  it('hold what was added and not deleted since, in as few ranges as possible', () => {
    fc.assert(
      fc.property(changes(30, 60), (steps) => {
        const ranges = new OrdinalRanges();
        const model = new Set<number>();
        for (const { add, ordinal } of steps) {
          if (add) model.add(ordinal);
          else model.delete(ordinal);
          if (add) ranges.add(ordinal);
          else ranges.delete(ordinal);
        }
        const expected = Array.from({ length: 32 }, (_, ordinal) => ordinal).filter((ordinal) => model.has(ordinal));
        expect(Array.from({ length: 32 }, (_, ordinal) => ordinal).filter((ordinal) => ranges.has(ordinal))).toEqual(
          expected,
        );
        const starts = expected.filter((ordinal) => !model.has(ordinal - 1));
        expect(ranges.toJson().map(([start]) => start)).toEqual(starts);
        expect(ranges.isEmpty).toBe(model.size === 0);
        expect(new OrdinalRanges(ranges.toJson()).toJson()).toEqual(ranges.toJson());
      }),
    );
  });

  it('stay few, and lose none, when there are too many: the closest are joined', () => {
    const ranges = new OrdinalRanges();
    const added = Array.from({ length: 3_000 }, (_, index) => index * 10 + (index % 3));
    for (const ordinal of [...added, 1_000_000]) ranges.add(ordinal);
    expect(ranges.toJson().length).toBeLessThanOrEqual(2_000);
    expect(added.filter((ordinal) => !ranges.has(ordinal))).toEqual([]);
    expect([ranges.has(1_000_000), ranges.has(999_999), ranges.has(500_000)]).toEqual([true, false, false]);
  });

  it('stay few when a long range is taken apart', () => {
    const ranges = new OrdinalRanges([[0, 100_000]]);
    for (let ordinal = 0; ordinal < 100_000; ordinal += 2) ranges.delete(ordinal);
    expect(ranges.toJson().length).toBeLessThanOrEqual(2_000);
    for (let ordinal = 1; ordinal < 100_000; ordinal += 2) expect(ranges.has(ordinal)).toBe(true);
  });
});

function range(count: number): number[] {
  return Array.from({ length: count }, (_, ordinal) => ordinal);
}
