import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { UNICODE_VERSION } from '../../../shared/lookAlikes/caseFoldings.ts';
import { foldLookAlikes } from '../../../shared/lookAlikes/lookAlikes.ts';
import { anyCharacter } from '../../support/anyCharacter.ts';

const decode = (characters: string) =>
  String.fromCodePoint(...characters.split(' ').map((one) => Number.parseInt(one, 16)));

/** Unicode's own table of NFKC_Casefold, and its version. */
const { mapping, version } = readMapping();

function readMapping() {
  const text = readFileSync(new URL('../../fixtures/unicode/nfkcCasefold.txt', import.meta.url), 'utf8');
  const table = new Map<string, string>();
  for (const [, first = '', last = first, to = ''] of text.matchAll(/^([0-9A-F]+)(?:\.\.([0-9A-F]+))?;(.*)$/gm)) {
    for (let character = Number.parseInt(first, 16); character <= Number.parseInt(last, 16); character++)
      table.set(String.fromCodePoint(character), to === '' ? '' : decode(to));
  }
  return { mapping: table, version: /Unicode ([\d.]+)/.exec(text)?.[1] };
}

/**
 * NFKC_Casefold by Unicode's definition (D147): decomposed, each character mapped, composed. Ignorable characters are
 * removed first, lest those between marks decide about their order.
 */
function nfkcCasefold(text: string): string {
  const mapEach = (part: string) => [...part].map((character) => mapping.get(character) ?? character).join('');
  const visible = [...text].filter((character) => mapping.get(character) !== '').join('');
  return mapEach(visible.normalize('NFD')).normalize('NFC');
}

/** What names lose beyond NFKC_Casefold. */
function withoutSurplus(text: string): string {
  const visible = text.replace(/i\u0307+/g, 'i').normalize('NFC');
  return visible.replace(/\p{White_Space}+/gu, ' ').replace(/^ | $/g, '');
}

/** Every character of the planes that have any of a meaning of their own. */
function* everyCharacter(): Generator<string> {
  for (const plane of [0, 1, 2, 3, 14]) {
    for (let character = plane << 16; character < (plane + 1) << 16; character++)
      if (character < 0xd800 || character > 0xdfff) yield String.fromCodePoint(character);
  }
}

const interesting = fc.oneof(
  fc.constantFrom(...mapping.keys()),
  fc.constantFrom(...'iıİßςσΣǅſKÅ\u0300\u0301\u0307\u0316\u0323\u0345\u0327αωᾳ 가각\u200b\u200d\ufeff\u00ad\u180e'),
  fc.string({ unit: anyCharacter, minLength: 1, maxLength: 1 }),
);
const anyName = fc.array(interesting, { maxLength: 8 }).map((characters) => characters.join(''));
const withoutControls = anyName.filter((name) => !/[^\P{Cc}\p{White_Space}]/u.test(name));

describe('foldLookAlikes', () => {
  // ZITADEL joins characters with the same simple lower case.
  it('is NFKC_Casefold of the same Unicode for every character, but for white space, controls and the dotted I', () => {
    expect(version).toBe(UNICODE_VERSION);
    const different: string[] = [];
    for (const character of everyCharacter()) {
      const folded = foldLookAlikes(character);
      const isExempt = /[\p{White_Space}\p{Cc}İ]/u.test(character);
      if (!isExempt && folded !== withoutSurplus(nfkcCasefold(character))) different.push(character);
      const goToLower = character === 'İ' ? 'i' : character.toLowerCase();
      if (foldLookAlikes(goToLower) !== folded) different.push(character);
    }
    expect(different).toEqual([]);
  });

  it('is NFKC_Casefold for texts of several characters, whose marks are in the order of the decomposed text', () => {
    const dottedI = /i\u0307|i[^i]*\u0307/;
    fc.assert(
      fc.property(withoutControls, (name) => {
        // Unicode orders the marks of `ᾧﾟ` and of its decomposition in different ways, though both look the same.
        const expected = nfkcCasefold(name.normalize('NFKD'));
        fc.pre(!dottedI.test(expected.normalize('NFD')));
        expect(foldLookAlikes(name)).toBe(withoutSurplus(expected));
      }),
      { numRuns: 1_000 },
    );
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

  it('is the same for a name in any case, any normal form, and with invisible characters anywhere', () => {
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
    ['the dotless i', 'ı', 'i'],
    ['a space within', 'jo se', 'jose'],
    ['letters of other scripts', 'a', 'а'],
    ['digits and letters', '0', 'o'],
  ])('keeps apart %s', (_what, one, other) => {
    expect(foldLookAlikes(one)).not.toBe(foldLookAlikes(other));
  });
});
