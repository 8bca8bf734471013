import {
  grandfatheredTags,
  languageCodes,
  regionCodes,
  regions,
  replacedLanguages,
  replacedRegions,
  scripts,
  threeLetterLanguages,
  twoLetterLanguages,
  variants,
} from './subtags.ts';

const words = (text: string): string[] => text.trim().split(/\s+/);
const pairs = (text: string): ReadonlyMap<string, string> =>
  new Map(
    words(text).map((pair): [string, string] => {
      const colon = pair.indexOf(':');
      return [pair.slice(0, colon), pair.slice(colon + 1)];
    }),
  );
const ownNames = (names: readonly string[]): Iterable<[string, string]> =>
  names.map((name) => [name.toLowerCase(), name]);

const languageNames: ReadonlyMap<string, string> = new Map([
  ...ownNames(words(twoLetterLanguages)),
  ...pairs(languageCodes),
]);
const threeLetterBits = Buffer.from(threeLetterLanguages, 'base64');
const scriptNames: ReadonlyMap<string, string> = new Map(ownNames(words(scripts)));
const regionNames: ReadonlyMap<string, string> = new Map([...ownNames(words(regions)), ...pairs(regionCodes)]);
const variantOrder: ReadonlyMap<string, number> = new Map(words(variants).map((name, index) => [name, index]));

/** The replacements of deprecated and legacy languages. */
export const languageReplacements = pairs(replacedLanguages);
/** The replacements of deprecated regions. */
export const regionReplacements = pairs(replacedRegions);
/** The tags that the registry keeps as a whole, in lower case, with their replacements. */
export const wholeTags = pairs(grandfatheredTags);

/** Finds the subtag of a language's code of two or three letters, in lower case. */
export function findLanguage(code: string): string | undefined {
  return languageNames.get(code) ?? (isThreeLetterLanguage(code) ? code : undefined);
}

/** Finds the subtag of a script's code of four letters, in lower case. */
export function findScript(code: string): string | undefined {
  return scriptNames.get(code);
}

/** Finds the subtag of a region's code of letters or digits, in lower case. */
export function findRegion(code: string): string | undefined {
  return regionNames.get(code);
}

/** Returns a variant's position among the variants of a tag; undefined for an unknown one. */
export function variantPosition(variant: string): number | undefined {
  return variantOrder.get(variant);
}

function isThreeLetterLanguage(code: string): boolean {
  if (!/^[a-z]{3}$/.test(code)) return false;
  let position = 0;
  for (const letter of Buffer.from(code)) position = position * 26 + letter - 97;
  return ((threeLetterBits[position >> 3] ?? 0) & (1 << (position & 7))) !== 0;
}
