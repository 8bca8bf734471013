import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { OrdinalRanges } from '../../../../functions/import/resume/phaseProgress.ts';

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
