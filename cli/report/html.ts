import { html as escaped, raw } from 'hono/html';
import { printable } from '../texts.ts';

/** HTML that `html` has made of texts, with escapes. */
export type Html = ReturnType<typeof raw>;

/** A value in a template: texts and numbers are escaped, undefined is absent. */
type HtmlValue = Html | string | number | undefined | readonly HtmlValue[];

/** Builds HTML from a template, and escapes its values. */
export function html(strings: TemplateStringsArray, ...values: readonly HtmlValue[]): Html {
  return raw(escaped(strings, ...values.map(shown)));
}

function shown(value: HtmlValue): unknown {
  if (typeof value === 'number') return value.toLocaleString('en');
  // Control and format characters can reverse the text that follows. HTML that is made already is an object for `typeof`.
  if (typeof value === 'string') return printable(value);
  return Array.isArray(value) ? value.map(shown) : value;
}

/** Returns the words of a section's name: `human users` for `humanUsers`. */
export function words(section: string): string {
  if (section === 'org') return 'organisations';
  return section.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}

/** Returns a moment as people read it, in UTC. */
export function moment(time: string): string {
  return `${time.slice(0, 19).replace('T', ' ')} UTC`;
}

/** Returns a definition list without the terms that have no value. */
export function definitions(terms: Readonly<Record<string, HtmlValue>>): Html {
  const known = Object.entries(terms).filter(([, value]) => value !== undefined);
  return html`<dl>${known.map(([term, value]) => html`<dt>${term}</dt><dd>${value}</dd>\n`)}</dl>`;
}

/** More items of a list than this are counted only. */
const MAX_LISTED = 100;

/**
 * Returns a section of the page with a list; undefined for an empty list.
 * @param omitted the number of further items, which the result does not hold
 */
export function listSection<Item>(
  title: string,
  items: readonly Item[],
  show: (item: Item) => Html,
  omitted = 0,
): Html | undefined {
  const all = items.length + omitted;
  if (all === 0) return undefined;
  const listed = items.slice(0, MAX_LISTED);
  const rest = all === listed.length ? undefined : html`<li class="soft">and ${all - listed.length} more</li>`;
  const lines = listed.map((item) => html`<li>${show(item)}</li>\n`);
  return html`<section><h2>${title} (${all})</h2><ul>${lines}${rest}</ul></section>`;
}

/** A bar's records: those of the source, by how the target has them. */
export interface BarCounts {
  readonly equal: number;
  readonly different: number;
  readonly absent: number;
}

/** A few records stay visible beside many. */
const LEAST_WIDTH = 0.4;

/** Draws a bar whose length is its share of the largest one. Its numbers stand beside it as text. */
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

/** A point of a line: seconds, and records per second. */
interface RatePoint {
  readonly seconds: number;
  readonly perSecond: number;
}

/** A curve of fewer points shows nothing that its figures do not say. */
const MIN_POINTS = 10;

/** Draws a rate over time. Its ends are written below it, so that no text is scaled. */
export function rateCurve(points: readonly RatePoint[]): Html | undefined {
  const [first, last] = [points[0], points.at(-1)];
  if (points.length < MIN_POINTS) return undefined;
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
