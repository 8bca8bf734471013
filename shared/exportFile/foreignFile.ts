// Recognises files of other kinds, to name them in the error.

import { shortenedText } from '../errors/identityError.ts';
import { JsonError, JsonScanner } from '../json/jsonScanner.ts';

/** A file of another kind in place of an export file. */
export class ForeignFileError extends JsonError {
  /** The kind of the file, such as `a Keycloak realm`, and the remedy. */
  readonly reason: string;

  constructor({ what, remedy }: Foreign) {
    const reason = `${what}, not an export file: ${remedy}`;
    super([], `the file is ${reason}`);
    this.reason = reason;
  }
}

interface Foreign {
  readonly what: string;
  readonly remedy: string;
}

/** The bytes at the start of a file that are looked at. */
export const START_BYTES = 64 * 1024;
const TEXT_CHARACTERS = 2_000;

/** The beginning of a file: its text, and where it is JSON the paths in it, without indexes: `users[].id`. */
export class FileStart {
  private readonly scanner = new JsonScanner(
    (path, kind) => {
      const names = path.map((part) => (typeof part === 'number' ? '[]' : part));
      if (path.length > 0) this.paths.add(names.join('.').replaceAll('.[]', '[]'));
      if (path.length === 0 && (kind === 'object' || kind === 'array')) return 'enter';
      const isFirst = !path.some((part) => typeof part === 'number' && part > 0);
      if (isFirst && kind === 'array' && path.length === 1) return 'enter';
      return isFirst && kind === 'object' && typeof path.at(-1) === 'number' ? 'enter' : 'glance';
    },
    { valueBytes: TEXT_CHARACTERS, fields: TEXT_CHARACTERS },
  );
  private isEnded = false;
  private bytes: Buffer = Buffer.alloc(0);
  readonly paths = new Set<string>();
  /** The value of the field `message`, if it is a text. */
  message: string | undefined;

  /** Adds the next bytes; returns whether further bytes can decide more. */
  add(chunk: Uint8Array): boolean {
    if (this.bytes.length < TEXT_CHARACTERS) this.bytes = Buffer.concat([this.bytes, chunk]);
    if (!this.isEnded) this.scan(chunk);
    return !this.isEnded || this.bytes.length < TEXT_CHARACTERS;
  }

  private scan(chunk: Uint8Array): void {
    try {
      for (const { path, kind, text } of this.scanner.push(chunk)) {
        if (path.join('.') === 'message' && kind === 'string' && text !== '') this.message = String(JSON.parse(text));
      }
    } catch (error) {
      if (!(error instanceof JsonError)) throw error;
      this.isEnded = true;
    }
  }

  /** Whether the file has no content but white space. */
  get isEmpty(): boolean {
    return this.bytes.length < TEXT_CHARACTERS && this.text === '';
  }

  get text(): string {
    return this.bytes.subarray(0, TEXT_CHARACTERS).toString('latin1').trimStart();
  }

  has(...paths: readonly string[]): boolean {
    return paths.every((path) => this.paths.has(path));
  }

  hasOneOf(...paths: readonly string[]): boolean {
    return paths.some((path) => this.paths.has(path));
  }
}

/** Whether users have a field, in a list that is the file or its field `users`. */
function usersHave(start: FileStart, ...names: readonly string[]): boolean {
  return ['[].', 'users[].'].some((list) => names.every((name) => start.has(`${list}${name}`)));
}

const REPEAT = 'check the address and the token, repeat the export, and keep only a response with the status 200';
const CONVERT = 'convert it first, to an object whose field orgs lists organisations with their records';
const EXPORT_INSTEAD = 'export the instance instead, with identity export or POST /admin/v1/export';
const DECOMPRESS = 'decompress it first, or compress it with gzip';
const ENCODE = 'convert it to UTF-8';

interface ForeignKind extends Foreign {
  readonly matches: (start: FileStart) => boolean;
}

/** The kinds of files by which people replace an export file. The first one that matches counts. */
const kinds: readonly ForeignKind[] = [
  { what: 'empty', remedy: REPEAT, matches: ({ isEmpty }) => isEmpty },
  { what: 'an HTML page', remedy: REPEAT, matches: ({ text }) => isHtml(text) },
  { what: 'an XML document', remedy: CONVERT, matches: ({ text }) => text.startsWith('<') },
  { what: 'compressed twice', remedy: 'decompress it once', matches: ({ text }) => text.startsWith('\x1f\x8b') },
  { what: 'a ZIP archive', remedy: DECOMPRESS, matches: ({ text }) => isZip(text) },
  {
    what: 'a tar archive',
    remedy: 'extract the export file from it',
    matches: ({ text }) => text.slice(257, 262) === 'ustar',
  },
  {
    what: 'in UTF-32',
    remedy: ENCODE,
    matches: ({ text }) => text.slice(0, 2).includes('\0') && /[{[]/.test(text.slice(0, 4)),
  },
  {
    what: 'an HTTP response with its headers',
    remedy: 'keep its body only, without the option -i of curl',
    matches: ({ text }) => /^HTTP\/\d/.test(text),
  },
  {
    what: 'an LDIF file',
    remedy: CONVERT,
    matches: ({ text }) => /^(?:(?:#.*|version: *\d+|)\r?\n)*dn::? /i.test(text),
  },
  {
    what: 'compressed by another method than gzip',
    remedy: DECOMPRESS,
    matches: ({ text }) => ['\x28\xb5\x2f\xfd', 'BZh', '\xfd7zXZ'].some((magic) => text.startsWith(magic)),
  },
  {
    what: 'an SQLite database',
    remedy: 'name the directory of an instance as sqlite:DIR, and use identity restore for a backup',
    matches: ({ text }) => text.startsWith('SQLite format 3\x00'),
  },
  {
    what: 'an import request without its file',
    remedy: 'send it with Content-Type: application/json',
    matches: (start) => [...start.paths].some((path) => /^data_?orgs(?:v1)?_?(?:gcs|s3|local)$/i.test(path)),
  },
  {
    what: 'an import request whose field for the file is misspelt',
    remedy: 'name the field data_orgs',
    matches: (start) => [...start.paths].some((path) => /^data_?orgs?_?(?:v1)?$/i.test(path)),
  },
  {
    what: 'the response of an export to a bucket',
    remedy: 'use the object that it names',
    matches: (start) => start.has('manifest', 'object'),
  },
  {
    what: 'the response of an import',
    remedy: 'use the file that was imported',
    matches: (start) => start.has('success') && start.hasOneOf('errors', 'summary'),
  },
  {
    what: 'the progress of an import',
    remedy: 'use the file that was imported',
    matches: (start) => start.has('event') && start.hasOneOf('phase', 'response', 'error'),
  },
  {
    what: 'encoded twice, as a JSON text',
    remedy: 'decode it once, for example with jq -r .',
    matches: ({ text }) => text.startsWith('"'),
  },
  {
    what: 'a single JSON value, such as null',
    remedy: REPEAT,
    matches: ({ text }) => /^(?:-?\d[\d.eE+-]*|true|false|null)\s*$/.test(text),
  },
  {
    what: 'an organisation without the list around it',
    remedy: 'put it into {"orgs":[…]}',
    matches: (start) => start.hasOneOf('orgId', 'org_id', 'humanUsers', 'human_users'),
  },
  {
    what: 'a list of organisations without the object around it',
    remedy: 'put it into {"orgs":…}',
    matches: (start) => start.hasOneOf('[].orgId', '[].org_id', '[].humanUsers', '[].human_users'),
  },
  {
    what: "a list of Firebase's users",
    remedy: CONVERT,
    matches: (start) => usersHave(start, 'localId'),
  },
  {
    what: "a list of Auth0's users",
    remedy: CONVERT,
    matches: (start) => usersHave(start, 'user_id') || start.has('user_id'),
  },
  {
    what: 'a Keycloak realm',
    remedy: CONVERT,
    matches: (start) => start.has('realm') || start.has('[].realm'),
  },
  {
    what: "a list of Keycloak's users",
    remedy: CONVERT,
    matches: (start) => usersHave(start, 'username', 'enabled') || usersHave(start, 'username', 'createdTimestamp'),
  },
  {
    what: "the response of a search for ZITADEL's users",
    remedy: EXPORT_INSTEAD,
    matches: (start) => start.hasOneOf('result[].userName', 'result[].username', 'result[].human', 'result[].userId'),
  },
  {
    what: "the response of one of ZITADEL's searches",
    remedy: EXPORT_INSTEAD,
    matches: (start) => start.has('details', 'result'),
  },
  {
    what: 'a list of users in the form of SCIM',
    remedy: CONVERT,
    matches: (start) => start.has('Resources', 'schemas'),
  },
  {
    what: 'a list of users of another service',
    remedy: CONVERT,
    matches: (start) => start.hasOneOf('users', 'Users', '[].email', '[].username', '[].profile'),
  },
  {
    what: 'a user of another service, or one user a line',
    remedy: CONVERT,
    matches: (start) => start.hasOneOf('email', 'username', 'userName'),
  },
  { what: 'a list of error responses', remedy: REPEAT, matches: (start) => start.has('[].error') },
  { what: 'a JSON list', remedy: CONVERT, matches: ({ text }) => text.startsWith('[') },
  { what: 'a CSV table', remedy: CONVERT, matches: ({ text }) => isTable(text) },
  {
    what: 'text or data other than JSON',
    remedy: 'check that an export wrote it',
    matches: ({ text }) => text !== '' && !/^(?:[{["]|-?\d|(?:true|false|null)\b)/.test(text),
  },
];

/** Whether the text is HTML, maybe after comments or a declaration of XML. */
function isHtml(text: string): boolean {
  return text.startsWith('<') && /<(?:!doctype\s+html|html|head|body|script|h1)\b/i.test(text);
}

function isZip(text: string): boolean {
  return ['PK\x03\x04', 'PK\x05\x06'].some((magic) => text.startsWith(magic));
}

/** Whether the first line has separators, and no brackets of JSON. */
function isTable(text: string): boolean {
  const end = text.indexOf('\n');
  const line = text.slice(0, Math.max(0, end));
  return /[,;\t]/.test(line) && !/[{}[\]]/.test(line);
}

/** Finds out which other kind of file one is, from its beginning. */
export function recogniseForeign(start: FileStart): ForeignFileError | undefined {
  const found = kinds.find(({ matches }) => matches(start));
  if (found !== undefined) return new ForeignFileError(found);
  if (!isError(start)) return undefined;
  const quotation = start.message === undefined ? '' : ` ("${shortenedText(start.message)}")`;
  return new ForeignFileError({ what: `a saved error response${quotation}`, remedy: `${REPEAT}; ${SMALLER}` });
}

/** Whether the file has the fields by which servers and gateways report errors. */
function isError(start: FileStart): boolean {
  const hasStatus = start.hasOneOf('code', 'status');
  return start.hasOneOf('error', 'errors', 'message') || (hasStatus && start.hasOneOf('title', 'detail'));
}

const SMALLER = 'identity export reads a ZITADEL organisation by organisation, where one response would be too large';
