/** The steps of ticks, as multiples of a power of ten. */
const STEPS = [1, 2, 5, 10];

/** Returns round numbers from 0 to the first that is not below `max`, about `count` of them. */
export function ticks(max: number, count: number): readonly number[] {
  if (!(max > 0) || !Number.isFinite(max)) return [0, 1];
  const rough = max / count;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = (STEPS.find((each) => each * power >= rough) ?? 10) * power;
  const steps = Math.ceil(max / step);
  // Multiplied and rounded, since sums of fractions are not exact.
  return Array.from({ length: steps + 1 }, (_, index) => Number((index * step).toPrecision(12)));
}
