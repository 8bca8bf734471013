import { html as escaped, raw } from 'hono/html';
import { printable } from '../texts.ts';

/** HTML that `html` has made of texts, with escapes. */
export type Html = ReturnType<typeof raw>;

/** What a template may hold: texts and numbers are escaped, nothing is left out. */
export type HtmlValue = Html | string | number | undefined | readonly HtmlValue[];

/** Builds HTML from a template, and escapes what it is given. */
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

/** Returns a number with its noun, such as `1 error` or `2,000 errors`. */
export function counted(count: number, noun: string): string {
  return `${count.toLocaleString('en')} ${noun}${count === 1 ? '' : 's'}`;
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
