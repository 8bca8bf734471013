import { type Html, type HtmlValue, html } from './html.ts';

/** Returns the words of a section's name: `human users` for `humanUsers`. */
export function words(section: string): string {
  if (section === 'org') return 'organisations';
  return section.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}

/** Returns a number with its noun, such as `1 error` or `2,000 errors`. */
export function counted(count: number, noun: string): string {
  return `${count.toLocaleString('en')} ${noun}${count === 1 ? '' : 's'}`;
}

/** Returns a moment as people read it, in UTC. */
export function moment(time: string): string {
  return `${time.slice(0, 19).replace('T', ' ')} UTC`;
}

/** Returns the sum of counts. */
export function total(counts: Readonly<Record<string, number>>): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0);
}

/** Returns a definition list without the terms that have no value. */
export function definitions(terms: Readonly<Record<string, HtmlValue>>): Html {
  const known = Object.entries(terms).filter(([, value]) => value !== undefined);
  return html`<dl>${known.map(([term, value]) => html`<dt>${term}</dt><dd>${value}</dd>\n`)}</dl>`;
}

/**
 * Returns a section of the page with a list; undefined for an empty list.
 * @param omitted the number of further items, which are counted only
 */
export function listSection(
  title: string,
  items: readonly Html[],
  omitted: number,
  introduction?: string,
): Html | undefined {
  if (items.length + omitted === 0) return undefined;
  const rest = omitted === 0 ? undefined : html`<li class="soft">and ${omitted} more</li>`;
  const heading = html`<h2>${title} (${items.length + omitted})</h2>`;
  const opening = introduction === undefined ? undefined : html`<p>${introduction}</p>`;
  return html`<section>${heading}${opening}<ul>${items.map((item) => html`<li>${item}</li>\n`)}${rest}</ul></section>`;
}
