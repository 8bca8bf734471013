import { secretSelection } from '../../shared/exportFile/secretSelection.ts';
import { flag, optional, repeatable, required, type Surroundings, UsageError, type Values } from '../command.ts';
import type { ExportOptions, ImportOptions } from '../exports/place.ts';
import { type ProgressOutput, progressEvents, progressLines } from '../progress.ts';
import { SECRET_CHOICES } from '../values.ts';

/** The option of commands that print events. */
export const eventsOption = { json: flag('print events as NDJSON on standard output; the last one is the result') };

/** The options that select what a place exports, and limit its time. */
export const exportChoices = {
  org: repeatable('ORG_ID', 'an organisation; by default all'),
  'exclude-org': repeatable('ORG_ID', 'an organisation to exclude; ids that the source does not have are ignored'),
  with: optional('SECRETS', `the secrets to include: ${SECRET_CHOICES}; by default none`),
  timeout: optional('DURATION', 'time limit such as 30m; by default as long as the place allows'),
  'unknown-states': optional(
    'STATE',
    'what the states count as that ZITADEL 2 or 3 does not return; by default they are an error',
  ),
};

/** The options that say how a place imports. */
export const importChoices = {
  'on-conflict': optional('CONFLICT', 'what to do with records that exist with other content'),
  'new-orgs-only': flag('fail if an organisation of the source exists in the target'),
};

/** The options for the secrets of a place. */
export const secretOptions = {
  'token-file': optional('FILE', 'the file with the token for the instance'),
  'credentials-file': optional(
    'FILE',
    "the service account's key file for gs://; by default application default credentials",
  ),
};

/** Returns the options for the secrets of two places: each alone, or one for the only place that needs it. */
export function secretsOfTwo(first: string, second: string) {
  return {
    ...secretOptions,
    'from-token-file': optional('FILE', `token file for ${first}`),
    'from-credentials-file': optional('FILE', `key file for gs:// as ${first}`),
    'to-token-file': optional('FILE', `token file for ${second}`),
    'to-credentials-file': optional('FILE', `key file for gs:// as ${second}`),
  };
}

/** The names of the files with the secrets of places, by the options that name them. */
export type SecretFiles = Partial<Values<ReturnType<typeof secretsOfTwo>>>;

/** The option of the place to write to. */
export const toOption = (meaning: string) => ({ to: required('PLACE', meaning) });

type ExportValues = Values<typeof exportChoices> & { readonly 'for-zitadel'?: boolean };
type ImportValues = Values<typeof importChoices> & { readonly 'dry-run'?: boolean };

/** What is left of declared options when all are read: an option without effect does not compile. */
type AllRead = Readonly<Record<string, never>>;

/** Returns what a call exports from a place with a database. */
export function exportOptions({ options }: { readonly options: ExportValues }): ExportOptions {
  const {
    org: orgIds,
    'exclude-org': excludedOrgIds,
    with: secrets,
    timeout,
    'unknown-states': unknownStates,
    'for-zitadel': forZitadel = false,
    ...others
  } = options;
  others satisfies AllRead;
  if (orgIds.length > 0 && orgIds.every((orgId) => excludedOrgIds.includes(orgId)))
    throw new UsageError('--exclude-org names every organisation of --org: correct one of them');
  return {
    orgIds,
    excludedOrgIds,
    ...secretSelection(secrets),
    forZitadel,
    timeoutMs: timeout?.milliseconds,
    unknownStates,
  };
}

/** Returns how a call imports. */
export function importOptions(call: { readonly options: ExportValues & ImportValues }): ImportOptions {
  return { ...exportOptions(call), ...ofImport(call.options), ids: true };
}

function ofImport(options: ImportValues) {
  const {
    'on-conflict': onConflict = 'report',
    'new-orgs-only': newOrgsOnly,
    'dry-run': dryRun = false,
    ...others
  } = options;
  others satisfies AllRead;
  return { onConflict, newOrgsOnly, dryRun };
}

/** Returns where a call shows its progress: with `--json` beside the result, else on standard error. */
export function progressOutput(
  {
    options,
    stdout,
    stderr,
  }: Pick<Surroundings, 'stdout' | 'stderr'> & { readonly options: { readonly json: boolean } },
  beside = stdout,
): ProgressOutput {
  return options.json ? progressEvents(beside) : progressLines(stderr);
}
