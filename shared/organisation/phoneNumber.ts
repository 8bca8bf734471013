import { parsePhoneNumberFromString } from 'libphonenumber-js/min';

const DIGIT = '\\p{Nd}';
/** A text with at least two digits in a row, or three between punctuation. */
const viable = new RegExp(
  `${DIGIT}{2}|(?:[-x\\u2010-\\u2015\\u2212\\u30fc\\uff0d-\\uff0f \\u00a0\\u00ad\\u200b\\u2060\\u3000()（）［］.[\\]/~\\u2053\\u223c\\uff5e*]*${DIGIT}){3}`,
  'u',
);
const extension = new RegExp(
  `(?:;ext=${DIGIT}{1,7}|[ \\u00a0\\t,]*(?:e?xt(?:ensi(?:o\\u0301?|ó))?n?|ｅ?ｘｔｎ?|[,xｘX#＃~～]|int|anexo|ｉｎｔ)[:.．]?[ \\u00a0\\t,-]*${DIGIT}{1,7}#?|[- ]+${DIGIT}{1,5}#)$`,
  'u',
);
/** The keys of a telephone with their letters. */
const KEYS = ['abc2', 'def3', 'ghi4', 'jkl5', 'mno6', 'pqrs7', 'tuv8', 'wxyz9'];
const keyOfLetter: ReadonlyMap<string, string> = new Map(
  KEYS.flatMap((key) => [...key.slice(0, -1)].map((letter): [string, string] => [letter, key.slice(-1)])),
);

/**
 * Converts a phone number to E.164, as ZITADEL stores it (zitadel 3.4). Whether the number is assigned is not checked.
 * Three letters or more stand for the keys of a telephone.
 * @returns undefined for a text that is no phone number
 */
export function toE164(text: string): string | undefined {
  const start = text.search(/[+＋\p{Nd}]/u);
  const [possible = ''] = text.slice(Math.max(start, 0)).split(/[\\/] *x/);
  if (start < 0 || !viable.test(possible)) return undefined;
  // The international prefix of Switzerland, ZITADEL's default region, may follow the plus sign.
  const digits = toDigits(withoutExtension(possible)).replace(/^00(?=[1-9])/, '');
  return parsePhoneNumberFromString(`+${digits}`, { extract: false })?.number;
}

function withoutExtension(text: string): string {
  const rest = text.replace(extension, '');
  return viable.test(rest) ? rest : text;
}

function toDigits(text: string): string {
  const hasLetters = (text.match(/[A-Za-z]/g) ?? []).length >= 3;
  return [...text]
    .map((character) => {
      if (hasLetters) return keyOfLetter.get(character.toLowerCase()) ?? digitValue(character);
      return digitValue(character);
    })
    .join('');
}

/** Returns the ASCII digit of a decimal digit of any script; empty for other characters. */
function digitValue(character: string): string {
  if (!/^\p{Nd}$/u.test(character)) return '';
  // The digits of each script follow each other.
  let zero = character.codePointAt(0) ?? 0;
  const code = zero;
  while (code - zero < 9 && /^\p{Nd}$/u.test(String.fromCodePoint(zero - 1))) zero--;
  return String(code - zero);
}
