// Recognises files that a user passes by mistake instead of an export file. The error then mentions the kind of file
// and a remedy.

import { shortenedText } from '../errors/identityError.ts';
import { JsonError } from '../json/jsonError.ts';
import { isJsonObject, parseIfJson } from '../json/jsonObject.ts';

export const START_BYTES = 4_096;

interface Kind {
  /** The text after `the file is` in the error, or a function that derives this text from the start of the file. */
  readonly what: string | ((text: string) => string);
  /** Matches the start of a file of this kind. White space before it is already removed. */
  readonly pattern: Pick<RegExp, 'test'>;
  /** Matches files of another kind that `pattern` matches by mistake. */
  readonly unless?: RegExp;
}

interface Row {
  readonly remedy: string;
  readonly kinds: readonly Kind[];
}

const REPEAT = 'check the address and the token, repeat the export, and keep only a response with the status 200';

/** Matches a JSON object in which a field contains an export, such as the response of another API. */
const WRAPPED = /^\{.*?"([^"\\]+)"\s*:\s*(?:\[\s*)?\{\s*"orgs"\s*:/s;
/**
 * Matches an HTML page. A page may begin with another element than `<html>`: the error pages of many gateways begin
 * with an element such as `<h1>`.
 */
const HTML =
  /^<(?:[!?].*?<)?(?:!doctype\s+html|html|head|body)\b|^<(?:!--.*?<)?(?:script|noscript|style|meta|title|link|base|center|h[1-6]|p|div|span|pre|br|hr|img|iframe|form|font|table|ul|ol|a|b|i|strong|em)(?=[\s/>])/is;

/** The kinds of wrong files, grouped by remedy. If several kinds match a file, the first kind is reported. */
const rows: readonly Row[] = [
  {
    remedy: 'the content was lost, for example on a full disk: copy the file again, or repeat the export',
    kinds: [{ what: 'only zero bytes', pattern: /^\0+$/ }],
  },
  {
    remedy: 'fetch the content first with `git lfs pull`',
    kinds: [{ what: 'a pointer of Git LFS', pattern: /^version https:\/\/git-lfs\./ }],
  },
  {
    remedy: 'decrypt the file with the program that encrypted it',
    kinds: [
      {
        what: 'encrypted',
        pattern:
          /^(?:Salted__|U2FsdGVkX1|age-encryption\.org\/|\$ANSIBLE_VAULT|-----BEGIN (?:AGE |PGP MESSAGE|CMS|PKCS7)|\u0085[^ -~]|\u008c\r)/,
      },
    ],
  },
  {
    remedy: 'use the file that was exported, an object {"orgs":[…]}',
    kinds: [
      { what: 'a key or certificate', pattern: /^-----BEGIN / },
      { what: 'a token (JWT)', pattern: /^ey[\w-]+(?:\.[\w-]*){2,4}\s*$/ },
      {
        what: 'a document, image, database or program',
        pattern: /^(?:%PDF|PK.*word\/|\u0089PNG|\u00ff\u00d8\u00ff|GIF8|SQLite format 3|\u007fELF|MZ\u0090|#!)/s,
      },
      { what: 'a file with unresolved Git conflicts', pattern: /^<{7} / },
      {
        what: (text) => `the JSON value ${shortenedText(text.trimEnd())}`,
        pattern: /^(?:null|true|false|-?\d[\d.eE+-]*|"[^"\\]*")\s*$/,
      },
      { what: 'the progress of an export or import', pattern: /^\{\s*"event"/ },
      {
        what: 'the response of an export or import',
        pattern: /^\{\s*"(?:(?:success|errors|summary)"|manifest".*"object"\s*:\s*\{)/s,
      },
    ],
  },
  {
    remedy: 'decode the file, for example with `base64 -d` or `xxd -r -p`, or with `jq -r .` for a JSON text',
    kinds: [
      { what: 'a data URL', pattern: /^data:[\w/+.-]*[;,]/i },
      { what: 'percent-encoded', pattern: /^(?:\w+=)?%7B/i },
      {
        what: 'written in hexadecimal digits',
        pattern: /^(?:0{7,8}:? |(?:\\x|0x)?(?:7b|1f\s?8b)(?:\s?[\da-f]{2}){10,}\s*)/i,
      },
      { what: 'encoded in Base64', pattern: /^(?:ey|H4sI|77u\/ey)[\w+/=\s-]{30,}$/ },
      { what: 'encoded twice, as a JSON text', pattern: /^"(?:\s|\\[nrt])*[{[]/ },
    ],
  },
  {
    remedy: 'keep only the object {"orgs":[…]}, from its first brace to its last, without comments',
    kinds: [
      {
        what: 'JSON inside a script',
        pattern:
          /^(?:\/\*\*\/\s*)?(?:\)\]\}'|(?:while|for)\s*\([^)\n]*\)\s*;|[\w$.]+\(\s*[{[]|(?:(?:var|let|const|export)\b|module\.exports|window\.)[^\n{]*\{)/,
      },
      { what: 'JSON inside a Markdown block', pattern: /^```/ },
      { what: 'JSON with a comment', pattern: /^(?:\/[/*]|#(?!!)[^\n]*\n\s*[{[#])/ },
    ],
  },
  {
    remedy: 'keep only the content of the part with the export: call curl with --data-binary @FILE instead of -F',
    kinds: [{ what: 'a form of several parts (multipart)', pattern: /^-{2,}[^\s-][^\r\n]*\r?\nContent-/i }],
  },
  {
    remedy: 'keep only the body: call curl with -sS and -o FILE, without -i, -v and --raw, and npm run with -s',
    kinds: [
      { what: 'a response with its headers', pattern: /^HTTP\/\d/ },
      { what: 'a response with the sizes of its chunks', pattern: /^[\da-f]{1,8}(?:;[^\r\n]*)?\r\n[{[]/i },
      { what: 'the output of curl, with its log', pattern: /^(?:% Total|\* +(?:Trying|Host|Connected|Uses))/ },
      { what: 'the output of npm, with lines before the export', pattern: /^> \S+@\d/ },
    ],
  },
  {
    remedy: 'convert the file to a JSON object {"orgs":[…]}, for example with `yq -o=json`',
    kinds: [
      {
        what: 'YAML, or JSON without its braces',
        pattern: /^(?:---\s|%YAML|"?orgs"?\s*:|(?:- )?[\w-]+:(?:[ \t][^\n]*)?\r?\n *(?:- |[\w-]+:))/,
      },
    ],
  },
  {
    remedy: 'send the request with Content-Type: application/json, or use only the export in the request',
    kinds: [{ what: 'an import request', pattern: /^\{\s*"(?:timeout|data_?orgs)/i }],
  },
  {
    remedy:
      'keep only the object {"orgs":[…]} of the file, for example with `jq -c \'.. | objects | select(has("orgs"))\'`',
    kinds: [
      {
        what: (text) =>
          `an object whose field ${shortenedText(WRAPPED.exec(text)?.[1] ?? '')} contains the organisations`,
        pattern: WRAPPED,
      },
      { what: 'a list of objects that contain the organisations', pattern: /^\[\s*\{\s*"orgs"\s*:/ },
    ],
  },
  {
    remedy: 'export the organisations from the running instance with `identity export`',
    kinds: [
      { what: 'a dump of a database', pattern: /^(?:PGDMP|--\s|(?:CREATE|INSERT|COPY|SET) )/ },
      {
        what: "a list from ZITADEL's API",
        pattern: /^\{.*"result":.*"(?:loginNames|preferredLoginName|primaryDomain|userId)"/s,
      },
    ],
  },
  {
    remedy:
      'convert the file to an object whose field `orgs` lists organisations with their records, as docs/other-products.md shows for Keycloak, Auth0 and CSV',
    kinds: [
      { what: 'XML', pattern: /^<[?!a-z]/i, unless: HTML },
      { what: 'a spreadsheet', pattern: /^PK.*xl\//s },
      { what: 'a spreadsheet', pattern: { test: isTable }, unless: HTML },
      { what: 'a list of JSON objects, one per line', pattern: /^\{.*\}\r?\n\s*\{/, unless: /^\{"orgId":/ },
      {
        what: 'an export of another product',
        pattern: /"(?:realm|users|user_id|localId|schemas|result|email|user_?name)"/i,
        unless: /^<|"(?:orgId|org_id|humanUsers)"/,
      },
    ],
  },
  {
    remedy: 'extract or decompress the file, or compress the export once, with gzip',
    kinds: [
      { what: 'a tar archive', pattern: /^[^\0{[]+\0.*?\0ustar/s },
      {
        what: 'compressed by another method than gzip, or twice',
        pattern:
          /^(?:PK|BZh|\(\u00b5\/\u00fd|\u00fd7zXZ|7z\u00bc\u00af|[^ -~]"M[^ -~]|.\u008b|x(?:[\u009c\u00da]|[^\s -\u00ff]|\^[\u0080-\u00ff]))/,
      },
    ],
  },
  {
    remedy: 'write the organisations as {"orgs":[…]}, for example with `jq -s \'{orgs: flatten}\'`',
    kinds: [
      { what: 'a list of organisations, one per line', pattern: /^\{"orgId":.*\}\r?\n\s*\{/ },
      { what: 'a list', pattern: /^\[/ },
    ],
  },
  {
    remedy: REPEAT,
    kinds: [
      { what: 'empty', pattern: /^$/ },
      { what: 'an HTML page', pattern: HTML },
      { what: 'text', pattern: /^[a-z][\s -~\u0080-\u00ff]*$/i },
    ],
  },
];

const kinds = rows.flatMap((row) => row.kinds.map((kind) => ({ ...kind, remedy: row.remedy })));

/** Whether a text is a table: each line has the same number of separators. The last line may be incomplete. */
function isTable(text: string): boolean {
  const lines = text
    .replaceAll(/"[^"]*(?:"|$)/g, '')
    .trimEnd()
    .split('\n');
  // A text with a space after each comma is prose, not a table.
  if (/[{}[\]]|^[^,;\t]*(?:, [^,;\t]*)+$/.test(lines[0] ?? '')) return false;
  return [',', ';', '\t'].some((separator) => {
    const [columns = 1, ...others] = lines.map((line) => line.split(separator).length);
    const [last = 0] = others.splice(-1);
    const isSame = others.every((other) => other === columns);
    return columns > 1 && isSame && (last === columns || (others.length > 0 && last < columns));
  });
}

/**
 * Returns the error about a file that is not an export; undefined if its kind is unknown. Call this function only if
 * the file is not an export.
 */
export function wrongFile(start: Buffer): JsonError | undefined {
  const text = start.toString('latin1').trimStart();
  const kind = kinds.find(({ pattern, unless }) => pattern.test(text) && unless?.test(text) !== true);
  if (kind === undefined) return savedError(start.toString());
  const { what, remedy } = kind;
  return errorOf(typeof what === 'string' ? what : what(start.toString().trimStart()), remedy);
}

function savedError(text: string): JsonError | undefined {
  const response = parseIfJson(text);
  if (!isJsonObject(response) || typeof response.message !== 'string') return undefined;
  const remedy = `${REPEAT}; if one response would be too large, \`identity export\` reads ZITADEL one organisation at a time`;
  return errorOf(`a saved error response ("${shortenedText(response.message)}")`, remedy);
}

function errorOf(kind: string, remedy: string): JsonError {
  return new JsonError([], `the file is ${kind}, not an export file: ${remedy}`, { wrongFile: { kind, remedy } });
}
