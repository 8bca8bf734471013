import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { exportFileJson } from '../../../shared/exportFile/fileForm.ts';
import { ForeignFileError } from '../../../shared/exportFile/foreignFile.ts';
import { JsonError, locatedMessage } from '../../../shared/json/jsonScanner.ts';
import { inPieces } from '../../support/fixtures/bytes.ts';

const FILE = '{"orgs":[{"orgId":"1","org":{"name":"Äcme 😀 \\"x\\""}}]}';
const bytes = (text: string) => Buffer.from(text);
const utf16 = (text: string) => Buffer.from(`\ufeff${text}`, 'utf16le');

/** Returns the bytes of a text in UTF-32, each as a character. */
function inUtf32(text: string): string {
  const units = Uint32Array.from(text, (character) => character.codePointAt(0) ?? 0);
  return Buffer.from(units.buffer).toString('latin1');
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
  ['in a request inside a request', bytes(`{"dataOrgs":{"timeout":"1m","data_orgs":${FILE}}}`)],
  ['in a compressed request', gzipSync(bytes(`\ufeff{"data_orgs":${FILE}}`))],
];

describe('an export file', () => {
  it.each(forms)('%s has the same JSON as the plain file, however it arrives', async (_name, file) => {
    for (const size of [1, 2, 3, 7, file.length]) expect((await read(file, size)).trim()).toBe(FILE);
  });

  it('is read in pieces when it is large, and unknown fields precede its organisations', async () => {
    const file = `{"note":${JSON.stringify('x'.repeat(300_000))},"orgs":[]}`;
    expect(await read(bytes(file), 10_000)).toBe(file);
  });

  it.each([
    ['damaged compression', gzipSync(FILE).fill(7, 12), /^the file's compression is damaged or incomplete/],
    ['half of its compression', gzipSync(FILE).subarray(0, 30), /^the file's compression is damaged or incomplete/],
    ['half a character of UTF-16', utf16(FILE).subarray(0, -1), /^the file is not valid UTF-16$/],
    [
      'an option of a request',
      bytes(`{"data_orgs":${FILE},"dry_run":true}`),
      /^dry_run: an import request in place of/,
    ],
    [
      'two files in a request',
      bytes(`{"data_orgs":${FILE},"dataOrgsv1":${FILE}}`),
      /^dataOrgsv1: a second file beside/,
    ],
    ['null in place of the file', bytes('{"dataOrgs":null}'), /^the import request has no export file/],
    ['a number in place of the file', bytes('{"data_orgs":7}'), /^data_orgs: expected an export file/],
    [
      'a list in place of the file',
      bytes('{"data_orgs":[{"orgId":"1"}]}'),
      /^data_orgs: expected an export file: an object \{"orgs":\[…\]\}/,
    ],
    ['half a request', bytes(`{"data_orgs":${FILE}`), /unexpected end of JSON input/],
    ['a string with a wrong escape', bytes('{"data_orgs":"{\\x"}'), /^data_orgs: invalid escape/],
  ])('with %s is rejected', async (_name, file, message) => {
    for (const size of [1, 5, file.length]) {
      const refused = read(file, size).catch((error: unknown) => {
        if (error instanceof JsonError) return locatedMessage(error);
        throw error;
      });
      expect(await refused).toMatch(message);
    }
  });

  it('with an error inside a request is passed on up to it, so that its reader reports the place', async () => {
    const file = bytes('{"data_orgs":{"orgs":[{"orgId":tru}]}}');
    const received: Uint8Array[] = [];
    const reading = async () => {
      for await (const piece of exportFileJson(inPieces(file, file.length))) received.push(piece);
    };
    await expect(reading()).rejects.toThrow(JsonError);
    expect(Buffer.concat(received).toString()).toMatch(/^\{"orgs":\[\{"orgId":tru\}/);
  });
});

const json = (value: unknown) => JSON.stringify(value);

const foreign: readonly (readonly [string, string, string])[] = [
  ['an HTML page', '<!DOCTYPE html>\n<html><body>Sign in</body></html>', 'an HTML page'],
  ['an HTML page with a comment', '<!-- x -->\n<html><body>Sign in</body></html>', 'an HTML page'],
  ['an XHTML page', '<?xml version="1.0"?><!DOCTYPE html><html></html>', 'an HTML page'],
  ['XML', '<?xml version="1.0"?><Error><Code>NoSuchKey</Code></Error>', 'an XML document'],
  ['a saved gRPC error', json({ code: 8, message: 'too large', details: [] }), 'a saved error response ("too large")'],
  ['a saved error without a message', json({ error: 'invalid_grant' }), 'a saved error response'],
  ["a gateway's error", json({ message: 'no Route matched' }), 'a saved error response ("no Route matched")'],
  ['a list of errors in an object', json({ errors: [{ message: 'x' }] }), 'a saved error response'],
  ['problem details', json({ type: 'about:blank', title: 'Forbidden', status: 403 }), 'a saved error response'],
  ["a Keycloak realm's export", json({ id: 'r', realm: 'my', users: [{ username: 'u' }] }), 'a Keycloak realm'],
  ['a list of Keycloak realms', json([{ id: 'r', realm: 'my' }]), 'a Keycloak realm'],
  [
    "Keycloak's users",
    json([{ id: '1', createdTimestamp: 1, username: 'u', enabled: true }]),
    "a list of Keycloak's users",
  ],
  ["Auth0's users", json([{ user_id: 'auth0|1', email: 'a@b.c' }]), "a list of Auth0's users"],
  ["a page of Auth0's users", json({ start: 0, users: [{ user_id: 'auth0|1' }] }), "a list of Auth0's users"],
  ["Auth0's users, one a line", `${json({ user_id: '1' })}\n${json({ user_id: '2' })}\n`, "a list of Auth0's users"],
  ["Firebase's users", json({ users: [{ localId: '1', email: 'a@b.c' }] }), "a list of Firebase's users"],
  [
    'a ZITADEL search of v1',
    json({ details: { totalResult: '1' }, result: [{ id: '1', userName: 'u', human: {} }] }),
    "the response of a search for ZITADEL's users",
  ],
  [
    'a ZITADEL search of v2',
    json({ details: { totalResult: '1' }, sortingColumn: 'X', result: [{ userId: '1', username: 'u' }] }),
    "the response of a search for ZITADEL's users",
  ],
  [
    "a search for ZITADEL's projects",
    json({ details: {}, result: [{ id: '1', name: 'p' }] }),
    "the response of one of ZITADEL's searches",
  ],
  ['SCIM', json({ schemas: [], Resources: [{ userName: 'u' }] }), 'a list of users in the form of SCIM'],
  ["another service's users", json({ users: [{ email: 'a@b.c' }] }), 'a list of users of another service'],
  ['CSV', 'id,email,name\r\n1,a@b.c,Ada\r\n', 'a CSV table'],
  ['CSV with semicolons', 'id;email\n1;a@b.c\n', 'a CSV table'],
  ['one organisation', json({ orgId: '1', org: {} }), 'an organisation without the list around it'],
  ['a list of organisations', json([{ orgId: '1' }]), 'a list of organisations without the object around it'],
  ['the response of an import', json({ errors: [], success: {} }), 'the response of an import'],
  ['the response of an export', json({ manifest: {}, object: {} }), 'the response of an export to a bucket'],
  ['a request for a bucket', json({ data_orgs_gcs: { bucket: 'b' } }), 'an import request without its file'],
  ['a misspelt request', json({ dataOrgsV1: {} }), 'an import request whose field for the file is misspelt'],
  ['a Keycloak realm in a request', json({ dataOrgs: { id: 'r', realm: 'my' } }), 'a Keycloak realm'],
  ['nothing', '', 'empty'],
  ['white space', ' \r\n', 'empty'],
  ['LDIF', 'dn: uid=ada,ou=people\nuid: ada,\n', 'an LDIF file'],
  ['the output of ldapsearch', '# extended LDIF\n#\nversion: 1\n\ndn:: dWlkPWE=\n', 'an LDIF file'],
  ['a response with headers', 'HTTP/1.1 200 OK\r\nDate: x\r\n\r\n{"orgs":[]}', 'an HTTP response with its headers'],
  ['plain text', 'upstream connect error', 'text or data other than JSON'],
  ['YAML', 'orgs:\n  - orgId: "1"\n', 'text or data other than JSON'],
  ['a request to import a person', json({ userName: 'u', email: {} }), 'a user of another service, or one user a line'],
  ['a list of errors', json([{ error: { code: 404 } }]), 'a list of error responses'],
  ['a list', '[1,2]', 'a JSON list'],
];

describe('a file of another kind', () => {
  it.each(foreign)('is rejected, and its kind is named: %s', async (_name, text, what) => {
    for (const file of [bytes(text), utf16(text), gzipSync(text)]) {
      const refused = read(file, 5);
      await expect(refused).rejects.toThrow(ForeignFileError);
      await expect(refused).rejects.toThrow(`the file is ${what}, not an export file: `);
    }
  });

  it.each([
    ['a ZIP archive', 'PK\x03\x04\x14', 'a ZIP archive'],
    ['a ZIP archive without files', 'PK\x05\x06', 'a ZIP archive'],
    ['a tar archive', `${'export.json'.padEnd(257, '\0')}ustar\0`, 'a tar archive'],
    ['double compression', gzipSync(gzipSync(FILE)).toString('latin1'), 'compressed twice'],
    ['double encoding', JSON.stringify(FILE), 'encoded twice, as a JSON text'],
    ['null', 'null', 'a single JSON value, such as null'],
    ['a number', '429\n', 'a single JSON value, such as null'],
    ['progress', '{"event":"progress","phase":1}\n{"event":"result"}\n', 'the progress of an import'],
    ['UTF-32', inUtf32(FILE), 'in UTF-32'],
    ['UTF-32 with a mark', inUtf32(`\ufeff${FILE}`), 'in UTF-32'],
    ['zstd', '\x28\xb5\x2f\xfd\x04', 'compressed by another method than gzip'],
    ['a database', 'SQLite format 3\x00', 'an SQLite database'],
  ])('is rejected, and its kind is named: %s', async (_name, text, what) => {
    await expect(read(Buffer.from(text, 'latin1'), 3)).rejects.toThrow(`the file is ${what}, not an export file: `);
  });
});
