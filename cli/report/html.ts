// HTML with escaped values.

import { html as escaped, raw } from 'hono/html';
import { printable } from '../terminal/terminal.ts';

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
  // Shows control and format characters as escapes, because they can reverse the following text. Escaped HTML is an
  // object for `typeof`, and stays unchanged.
  if (typeof value === 'string') return printable(value);
  return Array.isArray(value) ? value.map(shown) : value;
}
