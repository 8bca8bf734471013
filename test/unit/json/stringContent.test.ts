import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { stringContent } from '../../../shared/json/stringContent.ts';
import { anyCharacter } from '../../support/anyCharacter.ts';
import { collect } from '../../support/fixtures/bytes.ts';
import { repetitions } from '../../support/repetitions.ts';
import { byteByByte, cutAt } from './splitDocument.ts';

/** The decoded content between a JSON string's quotes, when it arrives in `pieces`. */
async function read(pieces: readonly Uint8Array[]): Promise<string> {
  return (await collect(stringContent(arriving(pieces), ['data_orgsv1']))).toString('utf8');
}

async function* arriving(pieces: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* pieces;
}

const contentOf = (json: string) => Buffer.from(json.slice(1, -1));

const TEXT = 'invalid escape, or an unescaped control character, in a text';
const PAIR = 'unpaired surrogate in an escape';

// Every escape of JSON, adjacent pairs of surrogates, text of one to four bytes, and runs of backslashes.
const escapes = String.raw`"\"\\\/\b\f\n\r\t\u0041\u00e9\u6f22\ud83d\ude00\uD83D\uDE80\\u0041\\\\\\\"éé漢🚀\u0000\uffff\\\ud83d\ude00"`;

describe('the content of a JSON string', () => {
  it('is the same as from JSON.parse', async () => {
    expect(await read([contentOf(escapes)])).toBe(JSON.parse(escapes));
  });

  it('is the same wherever it is split in two', async () => {
    const content = contentOf(escapes);
    for (let position = 0; position <= content.length; position++) {
      expect(await read(cutAt(content, position)), `cut at ${position}`).toBe(JSON.parse(escapes));
    }
  });

  it('is the same byte by byte', async () => {
    expect(await read(byteByByte(contentOf(escapes)))).toBe(JSON.parse(escapes));
  });

  it.each([
    '\\ud83d\\ude00',
    'x\\ud83d\\ude00y',
    '\\\\\\ud83d\\ude00',
    '\\ud83d\\ude00\\ud83d\\ude80',
    '\\uD83D\\uDE00',
  ])('keeps the surrogate pair in %s, split anywhere in two places', async (text) => {
    const content = Buffer.from(text);
    for (let first = 0; first <= content.length; first++) {
      for (let second = first; second <= content.length; second++) {
        const pieces = [content.subarray(0, first), content.subarray(first, second), content.subarray(second)];
        expect(await read(pieces), `cut at ${first} and ${second}`).toBe(JSON.parse(`"${text}"`));
      }
    }
  });

  it.each([
    ['\\x', TEXT],
    ['\\u12', TEXT],
    ['a\n', TEXT],
    ['\\', TEXT],
    ['\\ud83d', PAIR],
    ['\\ud83dx', PAIR],
    ['\\ude00', PAIR],
    [Buffer.from([0x61, 0xff]), expect.stringMatching(/^invalid UTF-8 \(byte 0xFF, .*: convert /)],
    [Buffer.from([0xe2, 0x80]), expect.stringMatching(/^invalid UTF-8: convert /)],
  ])('is rejected with the path of the string: %j', async (text, message) => {
    const content = Buffer.from(text);
    for (const pieces of [[content], byteByByte(content)])
      await expect(read(pieces)).rejects.toMatchObject({ name: 'JsonError', path: ['data_orgsv1'], message });
  });

  it('is empty for an empty string', async () => {
    expect(await read([])).toBe('');
    expect(await read([Buffer.alloc(0)])).toBe('');
  });

  it('is the same as from JSON.parse for any text, however it is escaped and split', async () => {
    const unit = fc.oneof(
      fc.string({ unit: anyCharacter, maxLength: 4 }).map((text) => JSON.stringify(text).slice(1, -1)),
      fc.string({ unit: anyCharacter, maxLength: 3 }).map(escapeAll),
    );
    const cases = fc.tuple(fc.array(unit), fc.array(fc.nat(), { maxLength: 8 }));
    await fc.assert(
      fc.asyncProperty(cases, async ([units, positions]) => {
        const text = units.join('');
        const content = Buffer.from(text);
        const cuts = [0, ...positions.map((at) => at % (content.length + 1)).sort((a, b) => a - b), content.length];
        const pieces = cuts.slice(1).map((end, index) => content.subarray(cuts[index], end));
        expect(await read(pieces)).toBe(JSON.parse(`"${text}"`));
      }),
      { numRuns: repetitions({ few: 200, many: 20_000 }) },
    );
  });
});

/** Each UTF-16 unit as a separate escape. */
function escapeAll(text: string): string {
  const units = Array.from({ length: text.length }, (_unit, index) => text.charCodeAt(index));
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('');
}
