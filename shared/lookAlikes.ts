// Names that look alike.

/** Printable ASCII without white space, whose only look-alikes differ in case. */
const PLAIN_ASCII = /^[!-~]*$/;
/** Control characters that are not white space are invisible too. */
const INVISIBLE = /(?:\p{Default_Ignorable_Code_Point}|[^\P{Cc}\p{White_Space}])+/gu;
/** A dot above an `i` is invisible, because the letter has one. `İ` in lower case has it, but not in ZITADEL. */
const DOTTED_I = /i\u0307+/g;

/**
 * Returns the text that all names have in common which look like `name`: without the distinctions of case and of
 * compatible forms, without invisible characters and surplus white space. Names of other scripts look alike as well, but
 * stay different: Latin `a` and Cyrillic `а`.
 *
 * The keys of stored claims depend on it: a change needs a new format of the database.
 */
export function foldLookAlikes(name: string): string {
  if (PLAIN_ASCII.test(name)) return name.toLowerCase();
  return foldCase(name.replace(INVISIBLE, '').normalize('NFKD'))
    .replace(DOTTED_I, 'i')
    .normalize('NFC')
    .replace(/\p{White_Space}+/gu, ' ')
    .replace(/^ | $/g, '');
}

/** The upper case joins `ß` and `ss`, and the lower case before it `ẞ`, whose upper case is itself. */
function foldCase(text: string): string {
  return text.toLowerCase().toUpperCase().toLowerCase().replaceAll('ς', 'σ');
}
