// HTML with escaped values.

import { html as escaped, raw } from 'hono/html';
import { printable } from '../terminal.ts';

/** Escaped HTML. */
export type Html = ReturnType<typeof raw>;

/** A value in a template. Texts are escaped; undefined is omitted. */
type HtmlValue = Html | string | number | undefined | readonly HtmlValue[];

/** Builds HTML from a template, and escapes its values. */
export function html(strings: TemplateStringsArray, ...values: readonly HtmlValue[]): Html {
  return raw(escaped(strings, ...values.map(shown)));
}

function shown(value: HtmlValue): unknown {
  if (typeof value === 'number') return value.toLocaleString('en');
  // Control and format characters can reverse the following text. Escaped HTML is an object for `typeof`.
  if (typeof value === 'string') return printable(value);
  return Array.isArray(value) ? value.map(shown) : value;
}

/** Formats a moment, in UTC. */
export function moment(time: string): string {
  return `${time.slice(0, 19).replace('T', ' ')} UTC`;
}

/** Returns a definition list of the terms with a value. */
export function definitions(terms: Readonly<Record<string, HtmlValue>>): Html {
  const known = Object.entries(terms).filter(([, value]) => value !== undefined);
  return html`<dl>${known.map(([term, value]) => html`<dt>${term}</dt><dd>${value}</dd>\n`)}</dl>`;
}

/** The number of items that a list shows; further ones are counted. */
const MAX_LIST_ITEMS = 100;

/**
 * Returns a section of the page with a list; undefined for an empty list.
 * @param omitted the number of further items, which the result does not contain
 */
export function listSection<Item>(
  title: string,
  items: readonly Item[],
  show: (item: Item) => Html,
  omitted = 0,
  sizeOf: (item: Item) => number = () => 1,
): Html | undefined {
  const size = (some: readonly Item[]) => some.reduce((sum, item) => sum + sizeOf(item), 0);
  const all = size(items) + omitted;
  if (all === 0) return undefined;
  const listed = items.slice(0, MAX_LIST_ITEMS);
  const rest = all === size(listed) ? undefined : html`<li class="soft">and ${all - size(listed)} more</li>`;
  const lines = listed.map((item) => html`<li>${show(item)}</li>\n`);
  return html`<section><h2>${title} (${all})</h2><ul>${lines}${rest}</ul></section>`;
}
