/**
 * Matches a text of printable ASCII without white space. Two such texts look alike only if they differ in nothing but
 * case.
 */
const PLAIN_ASCII = /^[!-~]*$/;
/** Matches invisible characters, including control characters, but not white space. */
const INVISIBLE = /(?:\p{Default_Ignorable_Code_Point}|[^\P{Cc}\p{White_Space}])+/gu;
/**
 * An `i` followed by a combining dot, which is invisible because an `i` has a dot already. JavaScript's lower case of
 * `İ` contains this dot; ZITADEL's does not.
 */
const DOTTED_I = /i\u0307+/g;

/**
 * Returns a text that is equal for all names that look alike. Ignores case, compatibility forms, invisible characters
 * and surplus white space. Letters of different scripts remain different even if they look alike, such as Latin `a` and
 * Cyrillic `а`. The database contains keys that are made with this function, so a change of this function requires a
 * new database format.
 */
export function foldLookAlikes(name: string): string {
  if (PLAIN_ASCII.test(name)) return name.toLowerCase();
  return foldCase(name.replace(INVISIBLE, '').normalize('NFKD'))
    .replace(DOTTED_I, 'i')
    .normalize('NFC')
    .replace(/\p{White_Space}+/gu, ' ')
    .replace(/^ | $/g, '');
}

/**
 * Convert to lower case first: `ẞ` becomes `ß`, which the conversion to upper case replaces by `SS`. Without the first
 * conversion, `ẞ` would remain.
 */
function foldCase(text: string): string {
  return text.toLowerCase().toUpperCase().toLowerCase().replaceAll('ς', 'σ');
}
