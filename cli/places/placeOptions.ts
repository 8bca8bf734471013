import { defined } from '../../shared/defined.ts';
import { transferOptions } from '../../shared/wire/transferOptions.ts';
import type { PlaceExportOptions, PlaceImportOptions } from '../exports/placeInterfaces.ts';
import { secretSelection } from '../records/secretSelection.ts';
import { flag, optional, required, type Surroundings, usageError, type Values } from '../terminal/command.ts';
import { type CallContext, progressEvents, progressLines } from '../terminal/progress.ts';
import { SECRET_CHOICES } from '../terminal/valueFormats.ts';

const CREDENTIALS = 'Places and credentials';
export const SELECTION = 'Selection and conflicts';
export const RUN_AND_OUTPUT = 'Run and output';

export const eventsOption = { json: flag('print events as NDJSON; the last is the result', RUN_AND_OUTPUT) };

export const placeDetails = '`identity help` lists the forms of PLACE.';

export const exportChoices = {
  ...transferOptions.orgIds.command,
  ...transferOptions.excludedOrgIds.command,
  with: optional('SECRETS', `${SECRET_CHOICES}; by default all for a file, and none for other places`, SELECTION),
  timeout: optional('DURATION', 'such as 30m; by default the limit of the place', RUN_AND_OUTPUT),
  accept: optional(
    'LOSS',
    'unknown-states: treat records as active if ZITADEL 2 or 3 does not export their state',
    SELECTION,
  ),
};

/**
 * The option `--with` of commands that move records. The option is required, because people whose password hashes do
 * not move need new passwords.
 */
export const movedSecrets = {
  with: {
    ...exportChoices.with,
    meaning: `${SECRET_CHOICES}; required unless the source is a file`,
  },
};

export function secretsMissing(): Error {
  return usageError(`missing option --with: specify the secrets to move: ${SECRET_CHOICES}`);
}

export const importChoices = {
  ...transferOptions.onConflict.command,
  accept: optional(
    'LOSSES',
    'unknown-states: import records as active; refused-hashes: import people without hashes',
    SELECTION,
  ),
};

export const mirrorChoices = {
  ...transferOptions.mirror.command,
  ...transferOptions.maxDeleted.command,
  ...transferOptions.replaceChanged.command,
};

const tokenFile = {
  name: 'token-file',
  place: 'instance',
  needs: 'an instance',
  isShared: false,
  meaning: 'file with the token for https://',
  meaningFor: 'file with the token for',
} as const;

const credentialsFile = {
  name: 'credentials-file',
  place: 'object',
  needs: 'a gs:// place',
  isShared: true,
  meaning: "key file for gs://; by default Google's ADC",
  meaningFor: 'key file for gs:// as',
} as const;

/** Files with secrets. If `isShared` is true, one option may specify the same file for both places. */
export const secretKinds = [tokenFile, credentialsFile] as const;

function secretOption({ meaning, meaningFor }: (typeof secretKinds)[number], place?: string) {
  return optional('FILE', place === undefined ? meaning : `${meaningFor} ${place}`, CREDENTIALS);
}

export const secretOptions = {
  'token-file': secretOption(tokenFile),
  'credentials-file': secretOption(credentialsFile),
};

/**
 * Returns the options for the secrets of two places. Each place has its own option. If only one place needs a secret,
 * the user can specify a third option, which names no place.
 */
export function secretsOfTwo(first: string, second: string) {
  return {
    ...secretOptions,
    'from-token-file': secretOption(tokenFile, first),
    'from-credentials-file': secretOption(credentialsFile, first),
    'to-token-file': secretOption(tokenFile, second),
    'to-credentials-file': secretOption(credentialsFile, second),
  };
}

export type SecretFiles = Partial<Values<ReturnType<typeof secretsOfTwo>>>;

/** Returns three names of options: for the only place that needs the secret, for the source, and for the target. */
export function secretOptionNames(name: (typeof secretKinds)[number]['name']) {
  return [name, `from-${name}`, `to-${name}`] as const;
}

export function tokenFileOf(files: SecretFiles, side: 'from' | 'to'): string | undefined {
  return files[`${side}-token-file`] ?? files['token-file'];
}

export const toOption = (meaning: string) => ({ to: required('PLACE', meaning, CREDENTIALS) });

type ExportValues = Values<Omit<typeof exportChoices, 'accept'> & Pick<typeof importChoices, 'accept'>>;
type ImportValues = Values<Omit<typeof importChoices, 'accept'>> & { readonly 'dry-run'?: boolean };

/**
 * The type of the options that remain after a function has read the options it needs. The type permits no option, so
 * the compiler reports each option that the function forgets.
 */
type AllRead = Readonly<Record<string, never>>;

export function exportOptionsOf({ options }: { readonly options: ExportValues }): PlaceExportOptions {
  const { org: orgIds, 'exclude-org': excludedOrgIds, with: secrets, timeout, accept: accepted, ...others } = options;
  others satisfies AllRead;
  if (orgIds.length > 0 && orgIds.every((orgId) => excludedOrgIds.includes(orgId)))
    throw usageError('--exclude-org excludes every organisation that --org selects: correct one of these options');
  return {
    orgIds,
    excludedOrgIds,
    ...secretSelection(secrets),
    timeoutMs: timeout?.milliseconds,
    accepted,
  };
}

export function importOptionsOf(call: { readonly options: ExportValues & ImportValues }): PlaceImportOptions {
  return { ...exportOptionsOf(call), ...ofImport(call.options), ids: true };
}

function ofImport(options: ImportValues) {
  const { 'on-conflict': onConflict = 'report', 'dry-run': dryRun = false, ...others } = options;
  others satisfies AllRead;
  return { onConflict, dryRun };
}

/**
 * The options of a mirroring import. The user confirms its deletions at the terminal, by `--yes`, or by `--expect` with
 * the digest of a dry run.
 */
type MirrorValues = Values<typeof mirrorChoices> &
  ImportValues & { readonly yes: boolean; readonly expect?: string | undefined };

/** @throws IdentityError USAGE_INVALID if options contradict each other */
export function mirrorOptionsOf({
  mirror,
  yes,
  expect,
  'max-deleted': maxDeleted,
  'replace-changed': replaceChanged,
  'dry-run': dryRun = false,
}: MirrorValues): Pick<PlaceImportOptions, 'mirror' | 'maxDeleted' | 'replaceChanged'> {
  if (!mirror) {
    const [option] = [
      ...(maxDeleted === undefined ? [] : ['--max-deleted']),
      ...(replaceChanged.length === 0 ? [] : ['--replace-changed']),
    ];
    if (option !== undefined)
      throw usageError(`${option} has no effect without --mirror: add --mirror, or omit ${option}`);
    return {};
  }
  if (yes && !dryRun && maxDeleted === undefined && expect === undefined)
    throw usageError(
      '--yes with --mirror needs --max-deleted: specify the number of deletions, which a call with --dry-run shows',
    );
  return { mirror, replaceChanged, ...defined({ maxDeleted }) };
}

/**
 * With `--json`, the returned output prints events to the stream `events`. Otherwise, it prints text to standard error.
 */
export function callContext(
  { options, stdout, stderr, signal }: Surroundings & { readonly options: { readonly json: boolean } },
  events = stdout,
): CallContext {
  return { output: options.json ? progressEvents(events) : progressLines(stderr), signal };
}
