import { multipleFoldings, singleFoldings } from './caseFoldings.ts';

/** Printable ASCII without white space, which only its case distinguishes from look-alikes. */
const PLAIN = /^[!-~]*$/;
/** Control characters that are not white space: like default-ignorable characters they are invisible. */
const INVISIBLE_CONTROLS = /[^\P{Cc}\p{White_Space}]+/gu;
/** A dot above an `i` shows nothing, since the letter has one. The small letter of `İ` has it, but not for ZITADEL. */
const DOTTED_I = /i\u0307+/g;

const foldings = readFoldings();

/**
 * Returns the text that all names have in common which look like `name`: Unicode's NFKC_Casefold of its compatible
 * decomposition, without control characters and surplus white space. Names of other scripts look alike as well, but stay different: Latin `a` and Cyrillic `а`.
 *
 * The keys of stored claims depend on it. A change, such as to another version of Unicode, needs a new format of the
 * database.
 */
export function foldLookAlikes(name: string): string {
  if (PLAIN.test(name)) return name.toLowerCase();
  return nfkcCasefold(name.replace(INVISIBLE_CONTROLS, ''))
    .replace(/\p{White_Space}+/gu, ' ')
    .replace(/^ | $/g, '');
}

/** Unicode's NFKC_Casefold, and `İ` as `i`. */
function nfkcCasefold(text: string): string {
  const visible = text.replace(/\p{Default_Ignorable_Code_Point}+/gu, '');
  return caseFold(visible.normalize('NFKD')).replace(DOTTED_I, 'i').normalize('NFKC');
}

/**
 * Returns a text without the distinctions of case, by Unicode's full case folding. Unlike `toLowerCase`, it maps `ß` and
 * `ss`, and both forms of the small sigma, to the same text.
 */
function caseFold(text: string): string {
  let folded = '';
  for (const character of text) folded += foldings.get(character) ?? character;
  return folded;
}

function readFoldings(): ReadonlyMap<string, string> {
  const table = new Map<string, string>();
  for (const run of words(singleFoldings)) {
    const numbers = run.split(',').map((number) => Number.parseInt(number, 16));
    const [from = 0, step = 1, count = 1, distance = 0] =
      numbers.length === 2 ? [numbers[0], 1, 1, numbers[1]] : numbers;
    for (let index = 0; index < count; index++) {
      const character = from + step * index;
      table.set(String.fromCodePoint(character), String.fromCodePoint(character + distance));
    }
  }
  for (const folding of words(multipleFoldings)) {
    const [from = '', to = ''] = folding.split(':');
    table.set(decode(from), to.split('+').map(decode).join(''));
  }
  return table;
}

function words(text: string): string[] {
  return text.trim().split(/\s+/);
}

function decode(character: string): string {
  return String.fromCodePoint(Number.parseInt(character, 16));
}
