// Recognises other kinds of files that a user may pass by mistake, so that the error can name the kind.

import { shortenedText } from '../errors/identityError.ts';
import { JsonError } from '../json/jsonError.ts';
import { isJsonObject, parseIfJson } from '../json/jsonObject.ts';

/** The number of bytes at the start of a file that are examined. */
export const START_BYTES = 4_096;

const REPEAT = 'check the address and the token, repeat the export, and keep only a response with the status 200';
const USE_FILE = 'use the file that was exported or imported';
const EXPECTED = 'an export file is an object {"orgs":[…]}: use the file that was exported';
const KEEP_INNER =
  'keep only the object {"orgs":[…]} in it, for example with jq -c \'.. | objects | select(has("orgs"))\'';
const CONVERT =
  'convert it first, to an object whose field orgs lists organisations with their records, as docs/other-products.md shows for Keycloak, Auth0 and CSV';

interface Kind {
  /** The kind of file; a function of the file's start if the text quotes the file. */
  readonly what: string | ((text: string) => string);
  readonly remedy: string;
  /** Matches the start of the file, without leading white space. */
  readonly pattern: Pick<RegExp, 'test'>;
  /** Matches the start of files of other kinds. */
  readonly unless?: RegExp;
}

/** Matches an object, such as the response of another API, one of whose fields contains an export. */
const WRAPPED = /^\{.*?"([^"\\]+)"\s*:\s*(?:\[\s*)?\{\s*"orgs"\s*:/s;

/** The kinds of wrong files. The first match counts. */
const kinds: readonly Kind[] = [
  { what: 'empty', remedy: REPEAT, pattern: /^$/ },
  {
    what: 'only zero bytes',
    remedy: 'its content was lost, for example on a full disk: copy it again, or repeat the export',
    pattern: /^\0+$/,
  },
  {
    what: 'a pointer of Git LFS',
    remedy: 'fetch the content first, with git lfs pull',
    pattern: /^version https:\/\/git-lfs\./,
  },
  {
    what: 'encrypted',
    remedy: 'decrypt it first, with the program that encrypted it',
    pattern:
      /^(?:Salted__|U2FsdGVkX1|age-encryption\.org\/|\$ANSIBLE_VAULT|-----BEGIN (?:AGE |PGP MESSAGE|CMS|PKCS7)|\u0085[^ -~]|\u008c\r)/,
  },
  { what: 'a key or certificate', remedy: USE_FILE, pattern: /^-----BEGIN / },
  {
    what: 'a token (JWT)',
    remedy: `${USE_FILE}, and specify a token with --token-file`,
    pattern: /^ey[\w-]+(?:\.[\w-]*){2,4}\s*$/,
  },
  { what: 'a data URL', remedy: 'decode what follows the comma', pattern: /^data:[\w/+.-]*[;,]/i },
  {
    what: 'percent-encoded',
    remedy: 'decode it, and remove what precedes the first brace',
    pattern: /^(?:\w+=)?%7B/i,
  },
  {
    what: 'written in hexadecimal digits',
    remedy: 'decode it, for example with xxd -r -p, or xxd -r if its lines are numbered',
    pattern: /^(?:0{7,8}:? |(?:\\x|0x)?(?:7b|1f\s?8b)(?:\s?[\da-f]{2}){10,}\s*)/i,
  },
  {
    what: 'JSON inside a script',
    remedy: 'keep only the object, from its first brace to its last',
    pattern:
      /^(?:\/\*\*\/\s*)?(?:\)\]\}'|(?:while|for)\s*\([^)\n]*\)\s*;|[\w$.]+\(\s*[{[]|(?:(?:var|let|const|export)\b|module\.exports|window\.)[^\n{]*\{)/,
  },
  {
    what: 'JSON inside a Markdown block',
    remedy: 'remove the lines that begin with ```',
    pattern: /^```/,
  },
  {
    what: 'a response with the sizes of its chunks',
    remedy: 'repeat the export with a client that decodes the response: call curl without --raw',
    pattern: /^[\da-f]{1,8}(?:;[^\r\n]*)?\r\n[{[]/i,
  },
  {
    what: 'the output of npm, with lines before the export',
    remedy: 'remove the lines before the first brace, and call npm run -s',
    pattern: /^> \S+@\d/,
  },
  {
    what: 'the output of curl, with its log',
    remedy: 'keep only the body: call curl with -sS, without -v, and with -o FILE',
    pattern: /^(?:% Total|\* +(?:Trying|Host|Connected|Uses))/,
  },
  {
    what: 'a form of several parts (multipart)',
    remedy: 'keep only the content of the part with the export: call curl with --data-binary @FILE instead of -F',
    pattern: /^-{2,}[^\s-][^\r\n]*\r?\nContent-/i,
  },
  {
    what: 'a dump of a database',
    remedy: 'an import cannot read it: export the organisations from the running instance',
    pattern: /^(?:PGDMP|--\s|(?:CREATE|INSERT|COPY|SET) )/,
  },
  {
    what: 'a file with conflicts of Git',
    remedy: 'resolve them, or use the file that was exported',
    pattern: /^<{7} /,
  },
  {
    what: 'a tar archive',
    remedy: 'extract the export from it, with tar -x',
    pattern: /^[^\0{[]+\0.*?\0ustar/s,
  },
  { what: 'an HTML page', remedy: REPEAT, pattern: /^<(?:[!?].*?<)?(?:!doctype\s+html|html|head|body)\b/is },
  { what: 'XML', remedy: CONVERT, pattern: /^<[?!a-z]/i },
  {
    what: 'JSON with a comment',
    remedy: 'remove all comments, which JSON does not have',
    pattern: /^(?:\/[/*]|#(?!!)[^\n]*\n\s*[{[#])/,
  },
  { what: 'a spreadsheet', remedy: CONVERT, pattern: /^PK.*xl\//s },
  {
    what: 'a document, image, database or program',
    remedy: USE_FILE,
    pattern: /^(?:%PDF|PK.*word\/|\u0089PNG|\u00ff\u00d8\u00ff|GIF8|SQLite format 3|\u007fELF|MZ\u0090|#!)/s,
  },
  {
    what: 'a response with its headers',
    remedy: 'keep only the body: call curl without -i',
    pattern: /^HTTP\/\d/,
  },
  {
    what: 'YAML, or JSON without its braces',
    remedy: 'convert it to JSON, to an object {"orgs":[…]}, for example with yq -o=json',
    pattern: /^(?:---\s|%YAML|"?orgs"?\s*:|(?:- )?[\w-]+:(?:[ \t][^\n]*)?\r?\n *(?:- |[\w-]+:))/,
  },
  {
    what: 'encoded in Base64',
    remedy: 'decode it, for example with base64 -d',
    pattern: /^(?:ey|H4sI|77u\/ey)[\w+/=\s-]{30,}$/,
  },
  { what: 'a spreadsheet', remedy: CONVERT, pattern: { test: isTable } },
  {
    what: 'compressed by another method than gzip, or twice',
    remedy: 'decompress it, or compress it with gzip only',
    pattern:
      /^(?:PK|BZh|\(\u00b5\/\u00fd|\u00fd7zXZ|7z\u00bc\u00af|[^ -~]"M[^ -~]|.\u008b|x(?:[\u009c\u00da]|[^\s -\u00ff]|\^[\u0080-\u00ff]))/,
  },
  {
    what: 'encoded twice, as a JSON text',
    remedy: 'decode it once, for example with jq -r .',
    pattern: /^"(?:\s|\\[nrt])*[{[]/,
  },
  {
    what: (text) => `the JSON value ${shortenedText(text.trimEnd())}`,
    remedy: EXPECTED,
    pattern: /^(?:null|true|false|-?\d[\d.eE+-]*|"[^"\\]*")\s*$/,
  },
  {
    what: 'the progress of an export or import',
    remedy: USE_FILE,
    pattern: /^\{\s*"event"/,
  },
  {
    what: 'a list of organisations, one a line',
    remedy: 'write them as {"orgs":[…]}, for example with jq -s \'{orgs: .}\'',
    pattern: /^\{"orgId":.*\}\r?\n\s*\{/,
  },
  { what: 'a list of JSON objects, one a line', remedy: CONVERT, pattern: /^\{.*\}\r?\n\s*\{/ },
  {
    what: 'an import request',
    remedy: 'send it with Content-Type: application/json, or use the export in it',
    pattern: /^\{\s*"(?:timeout|data_?orgs)/i,
  },
  {
    what: 'the response of an export or import',
    remedy: USE_FILE,
    pattern: /^\{\s*"(?:(?:success|errors|summary)"|manifest".*"object"\s*:\s*\{)/s,
  },
  {
    what: (text) => `an object whose field ${shortenedText(WRAPPED.exec(text)?.[1] ?? '')} contains the organisations`,
    remedy: KEEP_INNER,
    pattern: WRAPPED,
  },
  {
    what: 'a list of objects that contain the organisations',
    remedy: KEEP_INNER,
    pattern: /^\[\s*\{\s*"orgs"\s*:/,
  },
  {
    what: "a list from ZITADEL's API",
    remedy: 'export the organisations instead, with identity export --from https://HOST',
    pattern: /^\{.*"result":.*"(?:loginNames|preferredLoginName|primaryDomain|userId)"/s,
  },
  {
    what: 'an export of another product',
    remedy: CONVERT,
    pattern: /"(?:realm|users|user_id|localId|schemas|result|email|user_?name)"/i,
    unless: /"(?:orgId|org_id|humanUsers)"/,
  },
  { what: 'a list', remedy: 'write the list of organisations as {"orgs":[…]}', pattern: /^\[/ },
  { what: 'text', remedy: REPEAT, pattern: /^[a-z][\s -~\u0080-\u00ff]*$/i },
];

/** Whether several lines have the same number of separators. The text may end inside its last line. */
function isTable(text: string): boolean {
  const lines = text
    .replaceAll(/"[^"]*(?:"|$)/g, '')
    .trimEnd()
    .split('\n');
  // In prose, a space follows each comma.
  if (/[{}[\]]|^[^,;\t]*(?:, [^,;\t]*)+$/.test(lines[0] ?? '')) return false;
  return [',', ';', '\t'].some((separator) => {
    const [columns = 1, ...others] = lines.map((line) => line.split(separator).length);
    const [last = 0] = others.splice(-1);
    const isSame = others.every((other) => other === columns);
    return columns > 1 && isSame && (last === columns || (others.length > 0 && last < columns));
  });
}

/** Recognises a wrong file by its first bytes, after reading it as an export file has failed. */
export function wrongFile(start: Buffer): JsonError | undefined {
  const text = start.toString('latin1').trimStart();
  const kind = kinds.find(({ pattern, unless }) => pattern.test(text) && unless?.test(text) !== true);
  if (kind === undefined) return savedError(start.toString());
  const { what, remedy } = kind;
  return errorOf(typeof what === 'string' ? what : what(start.toString().trimStart()), remedy);
}

/** Recognises a saved error response of a server or a gateway. */
function savedError(text: string): JsonError | undefined {
  const response = parseIfJson(text);
  if (!isJsonObject(response) || typeof response.message !== 'string') return undefined;
  const remedy = `${REPEAT}; identity export reads ZITADEL organisation by organisation, where one response would be too large`;
  return errorOf(`a saved error response ("${shortenedText(response.message)}")`, remedy);
}

function errorOf(kind: string, remedy: string): JsonError {
  return new JsonError([], `the file is ${kind}, not an export file: ${remedy}`, { wrongFile: { kind, remedy } });
}
