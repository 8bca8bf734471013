import { printable } from '../printable.ts';

/** Text that is HTML already: only `html` makes it, so that nothing else reaches a page without escapes. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** What a template may hold: texts and numbers are escaped, nothing is left out. */
export type HtmlValue = Html | string | number | undefined | readonly HtmlValue[];

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Builds HTML from a template, and escapes what it is given. */
export function html(strings: TemplateStringsArray, ...values: readonly HtmlValue[]): Html {
  return new Html(strings.map((string, index) => `${string}${textIn(values[index])}`).join(''));
}

function textIn(value: HtmlValue): string {
  if (value === undefined) return '';
  if (value instanceof Html) return value.text;
  if (typeof value === 'number') return value.toLocaleString('en');
  if (typeof value !== 'string') return value.map(textIn).join('');
  // Control and format characters can reverse the text that follows.
  return printable(value).replace(/[&<>"']/g, (character) => entities[character] ?? '');
}
