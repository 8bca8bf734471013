/**
 * A text for which code that is not linear needs a long time: `unit`, repeated as often as it fits between the ends.
 */
interface AwkwardString {
  readonly what: string;
  readonly start?: string;
  readonly unit: string;
  readonly end?: string;
}

const table: readonly AwkwardString[] = [
  { what: 'spaces', unit: ' ' },
  { what: 'spaces inside', start: 'A', unit: ' ', end: '!' },
  { what: 'spaces at the end', start: 'A', unit: ' ' },
  { what: 'tabs', unit: '\t' },
  { what: 'line breaks', unit: '\r\n' },
  { what: 'spaces that do not break', start: 'a', unit: '\u00a0', end: 'b' },
  { what: 'ideographic spaces', start: 'a', unit: '\u3000', end: 'b' },
  { what: 'separators of lines and paragraphs', start: 'a', unit: '\u2028\u2029', end: 'b' },
  { what: 'byte order marks', unit: '\ufeff' },
  { what: 'combining marks by turns', unit: '\u0323\u0301' },
  { what: 'combining marks on a letter', start: 'a', unit: '\u0301\u0323\u0345\u05b0' },
  { what: 'Hangul jamo', unit: '\u1100\u1161\u11a8' },
  { what: 'a ligature of eighteen letters', unit: '\ufdfa' },
  { what: 'dotted letters', unit: '\u0130i\u0307' },
  { what: 'ignorable characters', start: 'a', unit: '\u200b\u00ad\ufe0f', end: '@' },
  { what: 'emoji with joiners', unit: '👩‍👩‍👧‍👦' },
  { what: 'text from right to left', unit: '\u202eא\u200fب' },
  { what: 'control characters', start: 'a', unit: '\u0001\u001b', end: 'b' },
  { what: 'unpaired surrogates', unit: '\udead' },
  { what: 'pairs of surrogates, then one without its other', unit: '😀', end: '\ud83d' },
  { what: 'dots', unit: '.' },
  { what: 'labels', start: 'a@', unit: 'a.', end: '!' },
  { what: 'one label', start: 'a@', unit: 'a', end: '!' },
  { what: 'hyphens', start: 'a@b', unit: '-', end: '!' },
  { what: 'at signs', unit: '@' },
  { what: 'letters and at signs', unit: 'a@' },
  { what: 'angles', start: 'a <', unit: '<', end: '>' },
  { what: 'pairs of angles', unit: '<>' },
  { what: 'brackets', unit: '[{(' },
  { what: 'closing brackets', unit: ')}]' },
  { what: 'backslashes', unit: '\\' },
  { what: 'quotes', unit: '"' },
  { what: 'slashes', start: 'https:', unit: '/' },
  { what: 'steps up', start: 'https://a/', unit: '../' },
  { what: 'percent signs', start: 'https://a/', unit: '%' },
  { what: 'percent escapes', start: 'https://a.example/', unit: '%c3%28' },
  { what: 'punycode', start: 'https://', unit: 'xn--a-ecp.', end: '/' },
  { what: 'long punycode', start: 'https://xn--', unit: '9' },
  { what: 'colons', unit: ':' },
  { what: 'digits', start: '+', unit: '1', end: 'x' },
  { what: 'zeros', start: '0.', unit: '0', end: 's' },
  { what: 'digits of another script', start: '+', unit: '٣' },
  { what: 'digits and letters', start: '+4', unit: '1a' },
  { what: 'digits with punctuation', start: '+', unit: '(-' },
  { what: 'extensions', start: '+41 79 123 45 67', unit: ' ext' },
  { what: 'hyphens and slashes before an x', start: '+41', unit: '/ ', end: 'x' },
  { what: 'signs', unit: '+-' },
  { what: 'durations', unit: '5h' },
  { what: 'a long fraction', start: '2026-01-01T00:00:00.', unit: '9', end: 'Z' },
  { what: 'subtags', start: 'de', unit: '-x1' },
  { what: 'extensions of a language tag', start: 'en', unit: '-a-bcd' },
  { what: 'padding', start: 'A', unit: '=' },
  { what: 'base32', unit: 'ABCDEFG2', end: '!' },
  { what: 'a hash', start: '$argon2id$v=19$m=65536,t=2,p=1$', unit: 'A', end: '!' },
  { what: 'costs of a hash', start: '$5$rounds=', unit: '5', end: '!' },
  { what: 'dollars', unit: '$' },
  { what: 'a PEM block without an end', unit: '-----BEGIN A-----\n' },
  { what: 'headers of a PEM block', start: '-----BEGIN A-----\n', unit: 'a:', end: '\n-----END A-----\n' },
  { what: 'carriage returns in a PEM block', start: '-----BEGIN A-----\n', unit: '\r', end: 'x\n-----END A-----\n' },
  { what: 'underscores', unit: '_' },
  { what: 'letters that lower case makes longer', unit: 'İẞ' },
];

/** The awkward strings, each with a function that builds it with at most the given number of bytes of JSON. */
export const awkwardStrings: readonly { readonly what: string; readonly build: (bytes: number) => string }[] =
  table.map(({ what, start = '', unit, end = '' }) => {
    const size = jsonBytes(unit);
    const ends = jsonBytes(start) + jsonBytes(end);
    return { what, build: (bytes) => start + unit.repeat(Math.max(0, Math.floor((bytes - ends) / size))) + end };
  });

function jsonBytes(text: string): number {
  return Buffer.byteLength(JSON.stringify(text)) - 2;
}
