import { deflateSync, gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { exportFileJson } from '../../../shared/exportFile/fileForm.ts';
import { ExportFileReader } from '../../../shared/exportFile/reader.ts';
import { locatedMessage } from '../../../shared/json/jsonError.ts';
import { inPieces } from '../../support/fixtures/bytes.ts';
import { errorOf } from '../json/splitDocument.ts';

const FILE = '{"orgs":[{"orgId":"1","org":{"name":"one"}}]}';

/** Reads a file that arrives in pieces of a size, and returns its error. */
async function errorIn(file: Buffer, size: number): Promise<string> {
  const pieces = await Array.fromAsync(exportFileJson(inPieces(file, size)));
  const reader = new ExportFileReader(() => true);
  const error = errorOf(() => {
    for (const piece of pieces) reader.push(piece);
    reader.end();
  });
  return locatedMessage(error);
}

const json = (value: unknown) => JSON.stringify(value);
const PRODUCT = 'an export of another product';
const RESPONSE = 'the response of an export or import';
const DOCUMENT = 'a document, image, database or program';
const SEARCH = "a list from ZITADEL's API";
const NPM = 'the output of npm, with lines before the export';
const FORM = 'a form of several parts (multipart)';
const COMPRESSED = 'compressed by another method than gzip, or twice';

describe('a file of another kind', () => {
  it.each([
    ['nothing', '', 'empty'],
    ['white space', ' \r\n', 'empty'],
    ['an HTML page', '<!DOCTYPE html>\n<html><body>Sign in</body></html>', 'an HTML page'],
    ['an HTML page with a comment', '<!-- x -->\n<html><body>Sign in</body></html>', 'an HTML page'],
    ['an HTML page that begins with a script', '<script>location="/x"</script>\n', 'an HTML page'],
    ["a gateway's page without <html>", '<center><h1>502 Bad Gateway</h1></center>', 'an HTML page'],
    ['a heading', '<h1>It works!</h1>', 'an HTML page'],
    ['a title after a comment', '<!-- nginx -->\r\n<TITLE>Sign in</TITLE>', 'an HTML page'],
    ['a redirection', '<meta http-equiv=refresh>', 'an HTML page'],
    ['XML whose element has a similar name', '<people><p>Ada</p></people>', 'XML'],
    ['XML with an element title', '<?xml version="1.0"?>\n<title>x</title>', 'XML'],
    ['an XHTML page', '<?xml version="1.0"?><!DOCTYPE html><html></html>', 'an HTML page'],
    ['CSV', 'id,email,name\r\n1,a@b.c,Ada\r\n', 'a spreadsheet'],
    ['CSV with semicolons and quotes', '"id";"email"\n"1";"a@b.c"\n', 'a spreadsheet'],
    ['CSV with separators and line breaks in quotes', 'id,note\n1,"a, b\n{c}"\n2,d', 'a spreadsheet'],
    ['CSV that ends inside a line', 'id\temail\tname\n1\ta@b.c\tAda\n2\tb@b', 'a spreadsheet'],
    ["a gateway's error", 'upstream connect error or disconnect/reset before headers, reset reason: overflow', 'text'],
    ['prose', 'Sorry, the service is down;\r\nwe work on it, day and night, for you.\r\n', 'text'],
    ['people, one per line', '{"user_id":"1"}\n{"user_id":"2"}\n', 'a list of JSON objects, one per line'],
    ['organisations, one per line', '{"orgId":"1"}\n{"orgId":"2"}\n', 'a list of organisations, one per line'],
    ['null', 'null\n', 'the JSON value null'],
    ['a number', '429', 'the JSON value 429'],
    ['a text', '"text ü"\n', 'the JSON value "text ü"'],
    ['YAML', 'orgs: []\n', 'YAML, or JSON without its braces'],
    ['an object without braces', '"orgs": [{"orgId":"1"}]', 'YAML, or JSON without its braces'],
    ['YAML of several lines', 'version: 1\norgs:\n- orgId: "1"\n', 'YAML, or JSON without its braces'],
    ['YAML with a mark', '---\n- orgId: "1"\n', 'YAML, or JSON without its braces'],
    ['an error in a line', 'Error: not found\n', 'text'],
    ['an export in a response', `{"result":[${FILE}]}`, 'an object whose field result contains the organisations'],
    ['an export in a field', `{"ok":1,"data":${FILE}}`, 'an object whose field data contains the organisations'],
    ['exports in a list', `[${FILE}]`, 'a list of objects that contain the organisations'],
    ['a search for organisations', json({ details: {}, result: [{ id: '1', name: 'A', primaryDomain: 'a' }] }), SEARCH],
    ['progress', '{"event":"progress","phase":1}\n{"event":"result"}\n', 'the progress of an export or import'],
    ['double encoding', json(FILE), 'encoded twice, as a JSON text'],
    ['a request for a bucket', json({ data_orgs_gcs: { bucket: 'b' } }), 'an import request'],
    ['a misspelt request', json({ timeout: '1m', dataOrgsV1: {} }), 'an import request'],
    ['the response of an import', json({ errors: [], success: {} }), RESPONSE],
    ['the response of an export', json({ manifest: {}, object: { bucket: 'b' } }), RESPONSE],
    ['a saved gRPC error', '{"code":8,"message":"too large","details":[]}', 'a saved error response ("too large")'],
    ["a Keycloak realm's export", json({ id: 'r', realm: 'my', users: [{ username: 'u' }] }), PRODUCT],
    ["Auth0's users", json([{ user_id: 'auth0|1', email: 'a@b.c' }]), PRODUCT],
    ["Firebase's users", json({ users: [{ localId: '1', email: 'a@b.c' }] }), PRODUCT],
    ['SCIM', json({ schemas: [], Resources: [{ userName: 'u' }] }), PRODUCT],
    ['a search for people', json({ details: { totalResult: '1' }, result: [{ userId: '1' }] }), SEARCH],
    ['XML', '<?xml version="1.0"?>\n<users><user id="1"/></users>', 'XML'],
    ['prose of a comma a line', 'Hello, world\nBye, world\n', 'text'],
    ['Base64', Buffer.from(FILE).toString('base64'), 'encoded in Base64'],
    ['gzip in Base64', gzipSync(FILE).toString('base64'), 'encoded in Base64'],
    ['headers', `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n${FILE}`, 'a response with its headers'],
    ['Git LFS', 'version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 9\n', 'a pointer of Git LFS'],
    ['age', 'age-encryption.org/v1\n-> X25519 abc\n', 'encrypted'],
    ['age in armour', '-----BEGIN AGE ENCRYPTED FILE-----\nYWdl\n', 'encrypted'],
    ['PGP in armour', '-----BEGIN PGP MESSAGE-----\n\nhQIMA\n', 'encrypted'],
    ['openssl with Base64', 'U2FsdGVkX1+aBcDeFgHiJkLmNoPqRsTuVwXyZ0123456789\n', 'encrypted'],
    ['Ansible Vault', '$ANSIBLE_VAULT;1.1;AES256\n6162\n', 'encrypted'],
    ['a private key', '-----BEGIN PRIVATE KEY-----\nMIIE\n', 'a key or certificate'],
    ['a token', 'eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl\n', 'a token (JWT)'],
    ['a data URL', `data:application/json;base64,${Buffer.from(FILE).toString('base64')}`, 'a data URL'],
    ['a form field', `data=${encodeURIComponent(FILE)}`, 'percent-encoded'],
    ['hexadecimal', Buffer.from(FILE).toString('hex'), 'written in hexadecimal digits'],
    ['a dump of bytes', '00000000: 7b22 6f72 6773 223a 5b7b  {"orgs":[{\n', 'written in hexadecimal digits'],
    ['JSONP', `callback(${FILE});`, 'JSON inside a script'],
    ['JSONP behind a comment', `/**/ angular.callbacks._0(${FILE});`, 'JSON inside a script'],
    ['a prefix against scripts', `)]}'\n${FILE}`, 'JSON inside a script'],
    ['a loop against scripts', `while(1);${FILE}`, 'JSON inside a script'],
    ['a module', `export default ${FILE};`, 'JSON inside a script'],
    ['Markdown', `\`\`\`json\n${FILE}\n\`\`\`\n`, 'JSON inside a Markdown block'],
    ['a chunked body', `2d\r\n${FILE}\r\n0\r\n\r\n`, 'a response with the sizes of its chunks'],
    ['npm run', `\n> identity@1.0.0 identity\n> node cli/main.ts export\n\n${FILE}`, NPM],
    ["curl's progress", '  % Total    % Received % Xferd  Average Speed\n', 'the output of curl, with its log'],
    ['a form', `--XX\r\nContent-Disposition: form-data; name="file"\r\n\r\n${FILE}\r\n--XX--`, FORM],
    ["a browser's form", `------WebKitFormBoundaryX\r\nContent-Disposition: form-data; name="f"\r\n\r\n${FILE}`, FORM],
    ['pg_dump', '--\n-- PostgreSQL database dump\n--\n\nSET statement_timeout = 0;\n', 'a dump of a database'],
    ['SQL', "INSERT INTO users VALUES ('1');\n", 'a dump of a database'],
    ['conflicts', `<<<<<<< HEAD\n${FILE}\n=======\n`, 'a file with unresolved Git conflicts'],
    ['a comment', `# exported from north, on Monday\n${FILE}`, 'JSON with a comment'],
    ['a script', '#!/bin/sh\nidentity export\n', DOCUMENT],
    ['a Keycloak realm in a request', json({ dataOrgs: { id: 'r', realm: 'my' } }), PRODUCT],
  ])('is rejected, and its kind is named: %s', async (_name, text, kind) => {
    const utf16 = Buffer.from(`\ufeff${text}`, 'utf16le');
    for (const file of [Buffer.from(text), utf16, gzipSync(text)])
      for (const size of [5, 10_000])
        expect(await errorIn(file, size)).toContain(`the file is ${kind}, not an export file: `);
  });

  it.each([
    ['a ZIP archive', 'PK\x03\x04\x14', COMPRESSED],
    ['a spreadsheet', 'PK\x03\x04\x14\0\0xl/workbook.xml', 'a spreadsheet'],
    ['a PDF', '%PDF-1.7\n%\xe2\xe3', DOCUMENT],
    ['a picture', '\x89PNG\r\n\x1a\n', DOCUMENT],
    ['a database', 'SQLite format 3\0', DOCUMENT],
    ['zstd', '\x28\xb5\x2f\xfd\x04', COMPRESSED],
    ['bzip2', 'BZh91AY', COMPRESSED],
    ['xz', '\xfd7zXZ\0', COMPRESSED],
    ['zlib', deflateSync(FILE).toString('latin1'), COMPRESSED],
    ['zlib with level 1', deflateSync(FILE, { level: 1 }).toString('latin1'), COMPRESSED],
    ['LZ4', '\x04"M\x18d', COMPRESSED],
    ['openssl', 'Salted__\x01\x9f\x03', 'encrypted'],
    ['PGP for a key', '\x85\x02\x0c\x03', 'encrypted'],
    ['PGP with a password', '\x8c\r\x04\t', 'encrypted'],
    ['zero bytes', '\0'.repeat(5_000), 'only zero bytes'],
    ['pg_dump in its own format', 'PGDMP\x01\x0e', 'a dump of a database'],
    ['tar', `export.json${'\0'.repeat(89)}0000644\0${'0'.repeat(148)}\0ustar\x0000`, 'a tar archive'],
    ['double compression', gzipSync(gzipSync(FILE)).toString('latin1'), COMPRESSED],
  ])('is rejected, and its kind is named: %s', async (_name, text, kind) => {
    const error = await errorIn(Buffer.from(text, 'latin1'), 3);
    expect(error).toContain(`the file is ${kind}, not an export file: `);
  });

  it.each([
    ['\0\0', 'the content was lost'],
    ['version https://git-lfs.github.com/spec/v1', 'fetch the content first'],
    ['Salted__', 'decrypt the file'],
    ['null', 'use the file that was exported'],
    [`data:application/json,${FILE}`, 'decode the file'],
    [`callback(${FILE})`, 'keep only the object {"orgs":[…]}, from its first brace'],
    ['--X\r\nContent-Type: a/b\r\n\r\n', 'keep only the content of the part'],
    ['HTTP/1.1 200 OK', 'keep only the body'],
    ['orgs: []', 'convert the file to a JSON object'],
    ['{"timeout":"1m"}', 'send the request with Content-Type'],
    [`{"data":${FILE}}`, 'keep only the object {"orgs":[…]} of the file'],
    ['CREATE TABLE a', 'export the organisations from the running instance'],
    ['<users/>', 'convert the file to an object'],
    ['BZh91AY', 'extract or decompress the file'],
    ['[]', 'write the organisations as'],
    ['Bad Gateway', 'check the address and the token'],
    ['{"message":"Bad Gateway"}', 'check the address and the token'],
  ])('is rejected with its own remedy: %j', async (text, remedy) => {
    expect(await errorIn(Buffer.from(text), 5)).toContain(`, not an export file: ${remedy}`);
  });

  it.each([
    ['half of its bytes', FILE.slice(0, 30), 'orgs[0].org: unexpected end of JSON input: the file is truncated'],
    [
      'a list of organisations',
      json([{ orgId: '1', humanUsers: [{ userName: 'u' }] }]),
      'the file is a list, not an export file: write the organisations as {"orgs":[…]}',
    ],
    [
      'JSON behind a comment',
      `// exported from north, on Monday\n${FILE}`,
      'the file is JSON with a comment, not an export file: keep only the object {"orgs":[…]}, from its first brace to its last, without comments',
    ],
    ['one organisation', json({ orgId: '1', org: {} }), 'expected {"orgs":[…]}; the file begins with orgId, org'],
    ['a word that JSON does not have', 'NaN', 'the file is text, not an export file: check the address'],
    ['no text', 'upstream\0connect', 'expected an object {"orgs":[…]}'],
    ['a repeated name in an unknown list', '{"orgs":[],"more":[{"a":1,"a":2}]}', 'more[0].a: duplicate field "a"'],
    [
      'an error in an export',
      '{"users":1,"orgs":[{"orgId":tru}]}',
      'orgs[0].orgId: expected a value, but found an invalid number',
    ],
  ])('is rejected as JSON without organisations, or by its error: %s', async (_name, text, message) => {
    expect(await errorIn(Buffer.from(text), 5)).toContain(message);
  });
});
