import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { foldLookAlikes } from '../../shared/lookAlikes.ts';
import { anyCharacter } from '../support/anyCharacter.ts';

/** Every character of the planes that contain defined characters. */
function* everyCharacter(): Generator<string> {
  for (const plane of [0, 1, 2, 3, 14]) {
    for (let character = plane << 16; character < (plane + 1) << 16; character++)
      if (character < 0xd800 || character > 0xdfff) yield String.fromCodePoint(character);
  }
}

const interesting = fc.oneof(
  fc.constantFrom(...'iıİßςσΣǅſKÅ\u0300\u0301\u0307\u0316\u0323\u0345\u0327αωᾳ 가각\u200b\u200d\ufeff\u00ad\u180e'),
  fc.string({ unit: anyCharacter, minLength: 1, maxLength: 1 }),
);
const anyName = fc.array(interesting, { maxLength: 8 }).map((characters) => characters.join(''));

describe('the folded form of a name', () => {
  it('is the same for every character and its lower case, which ZITADEL treats as one', () => {
    const different: string[] = [];
    for (const character of everyCharacter()) {
      const lowerInGo = character === 'İ' ? 'i' : character.toLowerCase();
      if (foldLookAlikes(lowerInGo) !== foldLookAlikes(character)) different.push(character);
    }
    expect(different).toEqual([]);
  });

  it('is idempotent', () => {
    fc.assert(
      fc.property(anyName, (name) => {
        const folded = foldLookAlikes(name);
        expect(foldLookAlikes(folded)).toBe(folded);
      }),
      { numRuns: 1_000 },
    );
  });

  it('is the same for a name in any normal form, and with invisible characters anywhere', () => {
    const invisible = fc.constantFrom(
      '\u200b',
      '\u200d',
      '\ufeff',
      '\u00ad',
      '\u2060',
      '\u0007',
      '\ufe0f',
      '\u{e0041}',
    );
    fc.assert(
      fc.property(anyName, invisible, fc.nat(8), (name, character, place) => {
        const characters = [...name];
        const within = [...characters.slice(0, place), character, ...characters.slice(place)].join('');
        const forms = (['NFC', 'NFD', 'NFKC', 'NFKD'] as const).map((form) => name.normalize(form));
        for (const other of [within, ` ${name}\u00a0`, ...forms])
          expect(foldLookAlikes(other), JSON.stringify(other)).toBe(foldLookAlikes(name));
      }),
      { numRuns: 1_000 },
    );
  });

  it.each([
    ['é composed and decomposed', 'jos\u00e9', 'jose\u0301'],
    ['a zero-width space', 'jo\u200bse', 'jose'],
    ['a zero-width space after a space', 'jose \u200b', 'jose'],
    ['full-width letters', 'ｊｏｓｅ', 'jose'],
    ['the sharp s', 'straße', 'STRASSE'],
    ['the capital sharp s', 'STRAẞE', 'strasse'],
    ['the final sigma', 'ΟΔΟΣ', 'οδος'],
    ['Cherokee, whose capitals are older', 'ᏣᎳᎩ', 'ꮳꮃꭹ'],
    ['the dotted I', 'İlker', 'ilker'],
    ['the dotless i', 'ılker', 'ilker'],
    ['the dotless i of mathematics', '𝚤', 'i'],
    ['a ligature', 'ﬁsh', 'fish'],
    ['a byte order mark', '\ufeffjose', 'jose'],
    ['a control character', 'jo\u0007se', 'jose'],
    ['spaces of different widths, and several', 'jo\u2003 \u00a0se', 'jo se'],
    ['a line break', 'jo\nse', 'jo se'],
    ['a presentation form of Arabic letters', 'ﻻ', 'لا'],
    ['a full-width at sign', 'jose＠acme.example', 'jose@acme.example'],
  ])('joins %s', (_what, one, other) => {
    expect(foldLookAlikes(one)).toBe(foldLookAlikes(other));
  });

  it.each([
    ['letters with and without an accent', 'jose', 'josé'],
    ['a space within', 'jo se', 'jose'],
    ['letters of other scripts', 'a', 'а'],
    ['digits and letters', '0', 'o'],
  ])('distinguishes %s', (_what, one, other) => {
    expect(foldLookAlikes(one)).not.toBe(foldLookAlikes(other));
  });
});
