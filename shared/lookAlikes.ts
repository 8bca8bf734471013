// Folds names that look alike to the same text.

/** Texts of printable ASCII without white space. Two such texts look alike only if they differ in nothing but case. */
const PLAIN_ASCII = /^[!-~]*$/;
/** Invisible characters. Control characters other than white space are invisible too. */
const INVISIBLE = /(?:\p{Default_Ignorable_Code_Point}|[^\P{Cc}\p{White_Space}])+/gu;
/**
 * A dot above an `i` is invisible, because the letter already has a dot. JavaScript keeps this dot in the lower case of
 * `İ`, ZITADEL does not.
 */
const DOTTED_I = /i\u0307+/g;

/**
 * Returns the same text for all names that look alike. Ignores case and compatibility forms, and removes invisible
 * characters and surplus white space. Letters of different scripts remain different even if they look alike, such as
 * Latin `a` and Cyrillic `а`. The keys of stored claims depend on this function: changing it requires a new format of
 * the database.
 */
export function foldLookAlikes(name: string): string {
  if (PLAIN_ASCII.test(name)) return name.toLowerCase();
  return foldCase(name.replace(INVISIBLE, '').normalize('NFKD'))
    .replace(DOTTED_I, 'i')
    .normalize('NFC')
    .replace(/\p{White_Space}+/gu, ' ')
    .replace(/^ | $/g, '');
}

/** Upper case converts `ß` to `SS`, but keeps `ẞ`. Lower case comes first, because it converts `ẞ` to `ß`. */
function foldCase(text: string): string {
  return text.toLowerCase().toUpperCase().toLowerCase().replaceAll('ς', 'σ');
}
