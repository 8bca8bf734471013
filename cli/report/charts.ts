import { type Html, html } from './texts.ts';

/** The numbers of a bar's records. */
export interface BarCounts {
  readonly equal: number;
  readonly different: number;
  readonly absent: number;
}

/** A point of a line: seconds, and records per second. */
export interface RatePoint {
  readonly seconds: number;
  readonly perSecond: number;
}

/** More points than this are not seen on a page. */
const MAX_POINTS = 240;
/** A few records stay visible beside many. */
const LEAST_WIDTH = 0.4;

/** Draws a bar whose length is its share of the largest one. What it says stands beside it as text. */
export function bar({ equal, different, absent }: BarCounts, largest: number): Html {
  const share = (count: number) => (count * 100) / Math.max(largest, 1);
  const visible = (count: number) => (count === 0 ? 0 : Math.max(LEAST_WIDTH, share(count)));
  const [odd, lost] = [visible(different), visible(absent)];
  // The few that differ take their place from the many that are equal.
  const good = Math.max(equal === 0 ? 0 : LEAST_WIDTH, share(equal + different + absent) - odd - lost);
  const part = (kind: string, x: number, width: number) =>
    width === 0
      ? undefined
      : html`<rect class="${kind}" x="${x.toFixed(2)}" y="0" width="${width.toFixed(2)}" height="6"/>`;
  const parts = [part('good', 0, good), part('odd', good, odd), part('lost', good + odd, lost)];
  return html`<svg viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true">${parts}</svg>`;
}

/** Draws how a rate changed over time. Its ends are written below it, so that no text is scaled. */
export function rateCurve(given: readonly RatePoint[]): Html | undefined {
  const points = thinned(given);
  const [first, last] = [points[0], points.at(-1)];
  if (first === undefined || last === undefined || last.seconds <= first.seconds) return undefined;
  const peak = Math.max(1, ...points.map(({ perSecond }) => perSecond));
  const coordinates = points.map(({ seconds, perSecond }) => {
    const x = ((seconds - first.seconds) * 100) / (last.seconds - first.seconds);
    return `${x.toFixed(2)},${(40 - (perSecond * 38) / peak).toFixed(2)}`;
  });
  return html`<svg viewBox="0 0 100 40" preserveAspectRatio="none" aria-hidden="true">
<polyline class="curve" points="${coordinates.join(' ')}"/></svg>
<div class="ends soft"><span>${Math.round(first.seconds)} s</span>
<span>highest: ${Math.round(peak)}/s</span><span>${Math.round(last.seconds)} s</span></div>`;
}

/** Returns as many points as a page shows, each the mean of its part. */
function thinned(points: readonly RatePoint[]): readonly RatePoint[] {
  if (points.length <= MAX_POINTS) return points;
  const size = points.length / MAX_POINTS;
  return Array.from({ length: MAX_POINTS }, (_, index) => {
    const part = points.slice(Math.floor(index * size), Math.floor((index + 1) * size));
    const mean = (value: (point: RatePoint) => number) =>
      part.reduce((sum, point) => sum + value(point), 0) / part.length;
    return { seconds: mean(({ seconds }) => seconds), perSecond: mean(({ perSecond }) => perSecond) };
  });
}
