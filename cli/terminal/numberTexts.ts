import { words } from '../../shared/errors/nouns.ts';
import { describeVerifiers } from '../../shared/organisation/hashFormats.ts';

/** Formats a number with separators, such as `30,680`. */
export function numberText(number: number): string {
  return number.toLocaleString('en');
}

const sizes = [
  [1e9, 'GB'],
  [1e6, 'MB'],
] as const;

/** Formats a number of bytes, such as `6.2 MB`. */
export function sizeText(bytes: number): string {
  const [bytesOfUnit, unit] = sizes.find(([least]) => bytes >= least) ?? [1e3, 'kB'];
  return `${(Math.ceil((bytes * 10) / bytesOfUnit) / 10).toLocaleString('en')} ${unit}`;
}

const plurals: Readonly<Record<string, string>> = { person: 'people', 'thing left to do': 'things left to do' };

export function nounOf(count: number, noun: string): string {
  return count === 1 ? noun : (plurals[noun] ?? `${noun.replace(/(?<=[^aeiou])y$/, 'ie')}s`);
}

/**
 * Formats a number with its noun.
 * @example
 *     counted(1, 'error'); // 1 error
 *     counted(2_000, 'person'); // 2,000 people
 */
export function counted(count: number, noun: string): string {
  return `${numberText(count)} ${nounOf(count, noun)}`;
}

/** Formats each number with its name after it, such as `71 failed`. Leaves out zeros. */
export function figures(counts: Readonly<Record<string, number>>): string[] {
  return Object.entries(counts).flatMap(([name, count]) => (count === 0 ? [] : [`${numberText(count)} ${name}`]));
}

/**
 * Formats each number with its name before it, such as `organisations 2, people 30,680`.
 * @param textOf returns the text for a name. If absent, `words` returns the text for a section or a kind of secrets
 */
export function countList(counts: Readonly<Record<string, number>>, textOf = words): string {
  const texts = Object.entries(counts).map(([name, count]) => `${textOf(name)} ${numberText(count)}`);
  return texts.join(', ') || 'none';
}

export function hashLine(formats: Readonly<Record<string, number>>): string {
  const texts = Object.entries(formats).map(
    ([format, count]) => `${format} ${numberText(count)} (${describeVerifiers(format)})`,
  );
  return `password hashes: ${texts.join(', ') || 'none'}`;
}

export const MAX_EXAMPLES = 3;

/**
 * Lists names, and the number of further names, such as `ada, bob, and 20 more`.
 * @param count the number of all names, listed or not
 */
export function firstOf(names: readonly string[], count: number): string {
  const more = count > names.length ? `, and ${numberText(count - names.length)} more` : '';
  return `${names.join(', ')}${more}`;
}

export const MAX_LINES = 20;

/**
 * Returns the first lines of a list. If there are more lines, adds a line with the number of the further lines.
 * @param omitted the number of items that are in no output
 * @param hidden the number of items that are only in the output of `--json`
 */
export function firstLines<Item = string>(
  lines: readonly Item[],
  noun: string,
  omitted = 0,
  hidden = Math.max(0, lines.length - MAX_LINES),
): (Item | string)[] {
  const more = `${numberText(hidden + omitted)} more ${nounOf(hidden + omitted, noun)}`;
  const listed = hidden === 0 ? '' : `; --json lists ${omitted === 0 ? 'them' : numberText(hidden)}`;
  return hidden + omitted === 0 ? [...lines] : [...lines.slice(0, MAX_LINES), `${more}${listed}`];
}

export function named(id: string, name: string | undefined): string {
  return name === undefined || name === '' || name === id ? id : `${id} (${name})`;
}
