import { html as escaped, raw } from 'hono/html';
import { printable } from '../terminal/terminal.ts';

/** HTML in which all values are already escaped. */
export type Html = ReturnType<typeof raw>;

/** A value in a template. `html` escapes texts, and omits undefined. */
type HtmlValue = Html | string | number | undefined | readonly HtmlValue[];

/** Builds HTML from a template, and escapes its values. */
export function html(strings: TemplateStringsArray, ...values: readonly HtmlValue[]): Html {
  return raw(escaped(strings, ...values.map(shown)));
}

function shown(value: HtmlValue): unknown {
  if (typeof value === 'number') return value.toLocaleString('en');
  // A text can contain control and format characters, which can for example reverse the text after them. `printable`
  // shows these characters as escapes. Already escaped HTML is an object, so this line does not change it.
  if (typeof value === 'string') return printable(value);
  return Array.isArray(value) ? value.map(shown) : value;
}
