import { existsSync, realpathSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { IdentityError } from '../../shared/errors/identityError.ts';
import { checkObjectName, objectUri } from '../../shared/objectStorage/objectName.ts';
import { isLoopback } from '../http/loopback.ts';
import { usageError } from '../terminal/command.ts';

/** A parsed place. All texts that specify the same place result in the same `name`, so callers compare names. */
export type ParsedPlace = { readonly name: string } & PlaceParts;

type PlaceParts =
  | { readonly kind: 'instance'; readonly origin: string }
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'stream' }
  | { readonly kind: 'object'; readonly bucket: string; readonly path: string }
  /** A database without a server. `data` or `firestore` is the value of the option that selects the database. */
  | { readonly kind: 'database'; readonly data?: string; readonly firestore?: string };

const FORMS =
  'https://HOST, FILE.json, FILE.json.gz, - (standard input or output), gs://BUCKET/PATH, sqlite:DIR or firestore:PROJECT[/DATABASE]';

const schemes: ReadonlyMap<string, (text: string) => ParsedPlace> = new Map([
  ['https', parseInstancePlace],
  ['http', parseInstancePlace],
  ['gs', parseObjectPlace],
  ['sqlite', parseSqlitePlace],
  ['firestore', parseFirestorePlace],
]);

/**
 * Parses a text that specifies a place. If a URL contains a password, errors do not contain the password.
 * @throws IdentityError USAGE_INVALID if the text specifies no place
 * @example
 * parsePlace('https://id.example.com'); // { name: 'https://id.example.com', kind: 'instance', origin: … }
 * parsePlace('firestore:my-project'); // { name: 'firestore:my-project/(default)', kind: 'database', firestore: … }
 */
export function parsePlace(text: string): ParsedPlace {
  if (text === '-') return { name: text, kind: 'stream' };
  const [, scheme] = /^([a-z][a-z0-9]+):/i.exec(text) ?? [];
  if (scheme !== undefined) {
    const parse = schemes.get(scheme.toLowerCase());
    if (parse === undefined) throw usageError(`unknown kind of place ${scheme}: specify ${FORMS}`);
    return parse(text);
  }
  if (/\.json(\.gz)?$/i.test(text)) return { name: resolve(text), kind: 'file', path: text };
  const existing = existsSync(text) ? statSync(text) : undefined;
  // A file with any other extension may be an export too. If it is not, the command fails when it reads the file.
  if (existing?.isFile()) return { name: resolve(text), kind: 'file', path: text };
  if (existing?.isDirectory())
    throw usageError(
      `${JSON.stringify(text)} is a directory: specify a file in it, or sqlite:DIR if it is the data directory of an instance`,
    );
  throw usageError(`${JSON.stringify(text)} is not a place: specify ${FORMS}`);
}

/**
 * Requires that no place is standard input or output, because the command reads its places several times.
 * @throws IdentityError USAGE_INVALID
 */
export function requireRereadable(...places: readonly string[]): void {
  if (places.includes('-'))
    throw usageError(
      'this command reads its places more than once, which - (standard input or output) does not permit: specify a file',
    );
}

/** Requires that two places are different. `from` and `to` are names that `parsePlace` returned. */
export function requireOther(from: string, to: string): void {
  if (from === to) throw usageError(`${from} is both the source and the target: specify two places`);
}

function parseInstancePlace(text: string): ParsedPlace {
  const url = URL.parse(text);
  if (url === null || url.hostname === '') throw usageError('the URL of an instance is invalid: specify https://HOST');
  if (url.username !== '' || url.password !== '')
    throw usageError(`the URL of ${url.host} contains a user name or password: specify the token with --token-file`);
  if (url.pathname !== '/' || url.search !== '' || url.hash !== '')
    throw usageError(`the URL of ${url.host} contains more than the host: specify ${url.origin}`);
  if (url.protocol === 'http:' && !isLoopback(url.hostname))
    throw usageError(`http://${url.host} would send the token unencrypted: specify https://${url.host}`);
  return { name: url.origin, kind: 'instance', origin: url.origin };
}

function parseObjectPlace(text: string): ParsedPlace {
  const [, bucket = '', path = ''] = /^gs:\/\/([^/]*)\/?(.*)$/is.exec(text) ?? [];
  try {
    checkObjectName({ bucket, path }, '');
  } catch (error) {
    if (!(error instanceof IdentityError)) throw error;
    throw usageError(`invalid ${JSON.stringify(text)}: ${error.message}: specify gs://BUCKET/PATH`);
  }
  return { name: objectUri({ bucket, path }), kind: 'object', bucket, path };
}

function parseSqlitePlace(text: string): ParsedPlace {
  const directory = after(text, 'sqlite:', 'a directory');
  const path = existsSync(directory) ? realpathSync(directory) : resolve(directory);
  return { name: `sqlite:${path}`, kind: 'database', data: directory };
}

function parseFirestorePlace(text: string): ParsedPlace {
  const databasePath = after(text, 'firestore:', 'PROJECT or PROJECT/DATABASE');
  const [, project, id = '(default)'] = /^([^/\s]+)(?:\/([^/\s]+))?$/.exec(databasePath) ?? [];
  const database = `${project}/${id}`;
  if (project !== undefined) return { name: `firestore:${database}`, kind: 'database', firestore: database };
  throw usageError(`invalid ${JSON.stringify(text)}: specify firestore:PROJECT or firestore:PROJECT/DATABASE`);
}

function after(text: string, prefix: string, missing: string): string {
  const rest = text.slice(prefix.length);
  if (rest === '') throw usageError(`${prefix} has no database: add ${missing}`);
  return rest;
}
