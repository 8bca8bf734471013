import { existsSync } from 'node:fs';
import type { Writable } from 'node:stream';
import { IdentityError } from '../../shared/errors/identityError.ts';
import { sourceMissing } from '../../shared/errors/placeErrors.ts';
import { DEFAULT_CREDENTIALS, type ServiceAccount } from '../../shared/objectStorage/objectStorage.ts';
import { readServiceAccount } from '../../shared/objectStorage/serviceAccount.ts';
import { checkOwn, readOwnSecret } from '../../shared/ownFiles.ts';
import { systemCode } from '../../shared/systemCode.ts';
import type { Place } from '../exports/placeInterfaces.ts';
import type { InstanceSettings } from '../places/calledServer.ts';
import { instanceLocation } from '../places/instanceLocation.ts';
import { type ParsedPlace, parsePlace } from '../places/parsePlace.ts';
import { callContext, type SecretFiles, secretKinds, secretOptionNames } from '../places/placeOptions.ts';
import { type Surroundings, usageError } from '../terminal/command.ts';
import { loadConfig } from '../terminal/configuration.ts';
import { type ProgressOutput, progressLines } from '../terminal/progress.ts';
import { askSecret, canAsk } from '../terminal/questions.ts';
import { warnOn } from '../terminal/terminal.ts';

type EventsCall = Parameters<typeof callContext>[0];

/**
 * Opens the two places of a call. Reads the files with tokens and keys, but sends nothing to the places yet.
 * @throws IdentityError USAGE_INVALID for an invalid place, and for a missing, ambiguous or unused option;
 * SOURCE_MISSING if the file with a token or key does not exist
 */
export async function openPlaces(
  call: EventsCall,
  secrets: SecretFiles,
  from: string,
  to: string,
): Promise<readonly [from: Place, to: Place]> {
  const source = { side: 'from', parsed: parsePlace(from) } as const;
  const target = { side: 'to', parsed: parsePlace(to) } as const;
  const files = secretFiles(secrets, [source, target], canAsk(call));
  // If the command writes the export to standard output, it reports retries on standard error.
  const { retry } = callContext(call, target.parsed.kind === 'stream' ? call.stderr : call.stdout).output;
  return [
    await openPlace(call, source, files.get(source), retry),
    await openPlace(call, target, files.get(target), retry),
  ];
}

export async function openOnlyPlace(call: EventsCall, secrets: SecretFiles, text: string): Promise<Place> {
  const place = { parsed: parsePlace(text) };
  const secret = secretFiles(secrets, [place], canAsk(call)).get(place);
  return openPlace(call, place, secret, callContext(call).output.retry);
}

/** Opens a place. Loads only the modules that this kind of place needs. */
async function openPlace(
  call: Surroundings,
  { parsed }: GivenPlace,
  secret: SecretFile | undefined,
  onRetry: ProgressOutput['retry'],
): Promise<Place> {
  switch (parsed.kind) {
    case 'stream':
      return (await import('../places/filePlace.ts')).openStreams(call);
    case 'file': {
      const warn = warnOn(call.stderr);
      if (existsSync(parsed.path)) checkOwn(parsed.path, 'export', warn);
      return (await import('../places/filePlace.ts')).openFile(parsed.path, warn);
    }
    case 'object': {
      const { file, option = '' } = secret ?? {};
      const account = file === undefined ? DEFAULT_CREDENTIALS : await readAccountKey(file, option, call.stderr);
      const { openObject } = await import('../places/objectPlace.ts');
      return openObject({ bucket: parsed.bucket, path: parsed.path, account });
    }
    case 'instance':
      return (await import('./remotePlace.ts')).openRemote({ ...(await withToken(call, parsed, secret)), onRetry });
    case 'database':
      return openDatabasePlace(call, parsed);
  }
}

/**
 * Parses the address of an instance of this service or of ZITADEL, and reads the token for this address.
 * @throws IdentityError USAGE_INVALID for another kind of place; the errors of `openPlaces`
 */
export async function openAddress(call: Surroundings, secrets: SecretFiles, text: string): Promise<InstanceSettings> {
  const parsed = parsePlace(text);
  if (parsed.kind !== 'instance') throw usageError(`${text} is not an address: specify https://HOST`);
  const place = { parsed };
  const settings = await withToken(call, parsed, secretFiles(secrets, [place], canAsk(call)).get(place));
  return { ...settings, onRetry: progressLines(call.stderr).retry };
}

async function withToken(
  call: Surroundings,
  { name, origin }: Extract<ParsedPlace, { kind: 'instance' }>,
  { file, option }: SecretFile = { file: undefined, option: '' },
): Promise<InstanceSettings> {
  const question = `The token for ${name} (this command does not store the token):`;
  const token =
    file === undefined
      ? checkToken(await askSecret(question, call), 'the answer')
      : await readTokenFile(file, option, call.stderr);
  return { origin, token, tokenOption: option, tokenFile: file };
}

async function openDatabasePlace(
  call: Surroundings,
  { name, data, firestore }: Extract<ParsedPlace, { kind: 'database' }>,
) {
  const { location, environment } = instanceLocation(data, firestore, call.environment);
  const { bcryptCost } = loadConfig({ environment });
  const { openDatabase } = await import('../places/databasePlace.ts');
  return openDatabase({ name, location, bcryptCost });
}

export interface GivenPlace {
  /** Undefined if the call has only one place. */
  readonly side?: 'from' | 'to';
  readonly parsed: ParsedPlace;
}

interface SecretFile {
  /** Undefined if the user enters the secret at the terminal. */
  readonly file: string | undefined;
  readonly option: string;
}

/**
 * Finds the file with the token or key of each place, by options such as `--from-token-file` and `--to-token-file`. If
 * only one place needs a token, `--token-file` is enough.
 * @param isAsked whether the command can ask the user for a missing token
 * @throws IdentityError USAGE_INVALID for a missing, ambiguous or unused option
 */
export function secretFiles(
  options: SecretFiles,
  places: readonly GivenPlace[],
  isAsked = false,
): Map<GivenPlace, SecretFile> {
  const files = new Map<GivenPlace, SecretFile>();
  for (const { name, place: kind, isShared, needs } of secretKinds) {
    const needing = places.filter(({ parsed }) => parsed.kind === kind);
    const used = new Set<string>();
    for (const place of needing) {
      const sideOption = place.side === undefined ? name : (`${place.side}-${name}` as const);
      const option = options[sideOption] === undefined ? name : sideOption;
      const file = options[option];
      if (file === undefined && isShared) continue;
      if (file === undefined && !isAsked)
        throw usageError(
          `missing option --${needing.length > 1 ? sideOption : name}: the file with the token for ${place.parsed.name}`,
        );
      if (file !== undefined && option !== sideOption && !isShared && needing.length > 1)
        throw usageError(
          `this call needs two files, and --${name} specifies only one: specify --from-${name} and --to-${name}`,
        );
      if (file !== undefined) used.add(option);
      files.set(place, { file, option: `--${file === undefined && needing.length > 1 ? sideOption : option}` });
    }
    const unused = secretOptionNames(name).find((option) => options[option] !== undefined && !used.has(option));
    if (unused !== undefined)
      throw usageError(
        `--${unused} has no effect: omit the option, which applies only to ${needs} for which no other option specifies the file`,
      );
  }
  return files;
}

/**
 * The errors do not contain the file's content.
 * @throws IdentityError USAGE_INVALID if the file contains no token; SOURCE_MISSING if the file does not exist
 */
async function readTokenFile(file: string, option: string, stderr: Writable): Promise<string> {
  return checkToken(await readSecretFile(file, option, stderr), `${file} of ${option}`);
}

/** Matches a token of the HTTP scheme Bearer (RFC 6750, 2.1). Does not match quotes and JSON. */
const TOKEN = /^[\w.~+/-]+=*$/;

/** The forms of texts that are no tokens. If a text matches several patterns, the error describes the first. */
const notTokens = [
  { pattern: /^$/, problem: 'is empty' },
  { pattern: /^[[{]/, problem: 'contains JSON' },
  { pattern: /^["'`]/, problem: 'contains a text in quotes' },
  { pattern: /^(?:authorization:|bearer\s)/i, problem: 'contains a header' },
  { pattern: /^[\x20-\x7e]+[\r\n][\x20-\x7e\r\n]+$/, problem: 'contains several lines' },
  { pattern: /^[\x20-\x7e]+$/, problem: 'contains spaces or other characters that no token has' },
  { pattern: /^/, problem: 'contains no text in ASCII' },
];

/**
 * Requires that a text is a token. The error does not contain the text.
 * @param holder the name of the text's source, for errors
 * @throws IdentityError USAGE_INVALID
 */
function checkToken(content: string, holder: string): string {
  const token = content.trim();
  if (TOKEN.test(token)) return token;
  const problem = notTokens.find(({ pattern }) => pattern.test(token))?.problem ?? '';
  throw usageError(`${holder} ${problem}: store only the token, on one line`);
}

/**
 * The errors do not contain the file's content.
 * @throws IdentityError USAGE_INVALID if the file contains no key; SOURCE_MISSING if the file does not exist
 */
async function readAccountKey(file: string, option: string, stderr: Writable): Promise<ServiceAccount> {
  const text = await readSecretFile(file, option, stderr);
  try {
    return readServiceAccount(Buffer.from(text).toString('base64'), file);
  } catch (error) {
    if (!(error instanceof IdentityError)) throw error;
    throw usageError(`invalid ${option}: ${error.message}`);
  }
}

/**
 * Matches a text that may be a secret, such as a token of ZITADEL, a JWT or a key in JSON, although the option expects
 * a path.
 */
const MAYBE_SECRET = /^(?:Bearer |\.\/)?[\w.~+=-]{40,}\s*$|[{"]/i;

async function readSecretFile(file: string, option: string, stderr: Writable): Promise<string> {
  try {
    return await readOwnSecret(file, warnOn(stderr));
  } catch (error) {
    const code = systemCode(error);
    if ((code === 'ENOENT' || code === 'ENAMETOOLONG') && MAYBE_SECRET.test(file))
      throw usageError(`${option} is not the path of a file: specify the file with the secret, not the secret itself`);
    if (code === 'ENOENT') throw sourceMissing({ place: file });
    throw error;
  }
}
