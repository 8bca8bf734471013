import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { exportFileJson, isPlainJson, REQUEST_START_BYTES } from '../../../shared/exportFile/fileForm.ts';
import { JsonError, locatedMessage } from '../../../shared/json/jsonError.ts';
import { inPieces } from '../../support/fixtures/bytes.ts';

const FILE = '{"orgs":[{"orgId":"1","org":{"name":"Äcme 😀 \\"x\\""}}]}';
const bytes = (text: string) => Buffer.from(text);
const utf16 = (text: string) => Buffer.from(`\ufeff${text}`, 'utf16le');

/** Encodes a text in UTF-32, little endian. */
function utf32(text: string): Buffer {
  return Buffer.concat([...text].map((character) => Buffer.from(Uint32Array.of(character.codePointAt(0) ?? 0).buffer)));
}

/** Reads a file that arrives in pieces of a size. */
async function read(file: Buffer, size: number): Promise<string> {
  const pieces = await Array.fromAsync(exportFileJson(inPieces(file, size)));
  return Buffer.concat(pieces).toString('utf8');
}

const forms: readonly (readonly [string, Buffer])[] = [
  ['plain', bytes(FILE)],
  ['with white space before it', bytes(` \n${FILE}`)],
  ['with a byte order mark', bytes(`\ufeff${FILE}`)],
  ['in UTF-16, little endian', utf16(FILE)],
  ['in UTF-16, big endian', utf16(FILE).swap16()],
  ['in UTF-16, little endian, without a mark', utf16(FILE).subarray(2)],
  ['in UTF-16, big endian, without a mark', utf16(FILE).swap16().subarray(2)],
  ['compressed', gzipSync(FILE)],
  ['compressed in two members', Buffer.concat([gzipSync(FILE.slice(0, 9)), gzipSync(FILE.slice(9))])],
  ['compressed, in UTF-16', gzipSync(utf16(FILE))],
  ['in a request', bytes(`{"dataOrgs":${FILE},"timeout":"30m0s"}`)],
  ['in a request that begins with its timeout', bytes(`{"timeout":"30m0s","data_orgs":${FILE}}`)],
  ['in a request for v1', bytes(`{"data_orgsv1":${FILE}}`)],
  ['in a request with another file that is null', bytes(`{"dataOrgsv1":null,"dataOrgs":${FILE},"dry_run":null}`)],
  ['as a string in a request', bytes(`{"dataOrgsv1":${JSON.stringify(FILE)} }`)],
  ['as a string with a mark in a request', bytes(`{"dataOrgsv1":${JSON.stringify(`\ufeff${FILE}`)}}`)],
  ['in a compressed request', gzipSync(bytes(`\ufeff{"data_orgs":${FILE}}`))],
];

describe('an export file', () => {
  it.each(forms)('%s has the same JSON as the plain file, however it arrives', async (_name, file) => {
    for (const size of [1, 2, 3, 7, file.length]) expect((await read(file, size)).trim()).toBe(FILE);
  });

  it('is plain JSON in no other form than its own, as its beginning shows', async () => {
    const plain = ['plain', 'with white space before it'];
    const isPlain = (file: Uint8Array) => isPlainJson(file.subarray(0, REQUEST_START_BYTES));
    for (const [name, file] of forms) expect([name, await isPlain(file)]).toEqual([name, plain.includes(name)]);
    const large = `{"orgs":[{"orgId":"a","org":{"name":${JSON.stringify('é'.repeat(2_000))}}}]}`;
    expect(await isPlain(bytes(large))).toBe(true);
    expect(await isPlain(bytes(`{"data_orgs":${large}}`))).toBe(false);
    expect(await isPlain(gzipSync(large))).toBe(false);
  });

  it('is read in pieces when it is large, and unknown fields precede its organisations', async () => {
    const file = `{"note":${JSON.stringify('x'.repeat(300_000))},"orgs":[]}`;
    expect(await read(bytes(file), 10_000)).toBe(file);
  });

  it.each([
    ['damaged compression', gzipSync(FILE).fill(7, 12), /^the file's compression is damaged or incomplete/],
    ['half of its compression', gzipSync(FILE).subarray(0, 30), /^the file's compression is damaged or incomplete/],
    ['two byte order marks', bytes(`\ufeff\ufeff${FILE}`), /^the text has two byte order marks, or is encoded twice/],
    ['two marks in UTF-16', utf16(`\ufeff${FILE}`), /^the text has two byte order marks, or is encoded twice/],
    ['UTF-16 behind a mark', Buffer.concat([bytes('\ufeff'), utf16(FILE)]), /^the text has two byte order marks/],
    ['UTF-32 with a mark', utf32(`\ufeff${FILE}`), /^the text is in UTF-32: convert it to UTF-8$/],
    ['UTF-32 without a mark', utf32(FILE), /^the text is in UTF-32: convert it to UTF-8$/],
    ['UTF-32 from its greater byte on', utf32(`\ufeff${FILE}`).swap32(), /^the text is in UTF-32/],
    ['half a character of UTF-16', utf16(FILE).subarray(0, -1), /^the text is not valid UTF-16$/],
    [
      'an option of a request',
      bytes(`{"data_orgs":${FILE},"dry_run":true}`),
      /^dry_run: the file is an import request with an option other than timeout/,
    ],
    [
      'two files in a request',
      bytes(`{"data_orgs":${FILE},"dataOrgsv1":${FILE}}`),
      /^dataOrgsv1: the import request contains another file in data_orgs/,
    ],
    ['null in place of the file', bytes('{"dataOrgs":null}'), /^the import request has no export file/],
    ['a number in place of the file', bytes('{"data_orgs":7}'), /^data_orgs: expected an export file/],
    [
      'a list in place of the file',
      bytes('{"data_orgs":[{"orgId":"1"}]}'),
      /^data_orgs: expected an export file: an object \{"orgs":\[…\]\}/,
    ],
    ['half a request', bytes(`{"data_orgs":${FILE}`), /unexpected end of JSON input/],
    ['a string with a wrong escape', bytes('{"data_orgs":"{\\x"}'), /^invalid escape/],
  ])('with %s is rejected', async (_name, file, message) => {
    for (const size of [1, 5, file.length]) {
      const refused = read(file, size).catch((error: unknown) => {
        if (error instanceof JsonError) return locatedMessage(error);
        throw error;
      });
      expect(await refused).toMatch(message);
    }
  });
});
