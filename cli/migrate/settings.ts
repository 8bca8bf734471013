import { resolve } from 'node:path';
import { defined } from '../../shared/defined.ts';
import { shellWord } from '../../shared/shellWord.ts';
import type { PlaceExportOptions, PlaceImportOptions } from '../exports/placeInterfaces.ts';
import { parsePlace, requireOther, requireRereadable } from '../places/parsePlace.ts';
import {
  exportOptionsOf,
  importOptionsOf,
  mirrorOptionsOf,
  type SecretFiles,
  secretKinds,
  secretOptionNames,
} from '../places/placeOptions.ts';
import { selectedKinds } from '../records/secretSelection.ts';
import { callText } from '../terminal/callTexts.ts';
import { usageError } from '../terminal/command.ts';
import type { MigrationCall } from './migrationOptions.ts';
import type { ShownOptions } from './migrationTypes.ts';

export interface MigrationSettings extends PlaceExportOptions, Omit<PlaceImportOptions, 'dryRun' | 'ids'> {
  readonly from: string;
  readonly to: string;
  /** The paths of the files with tokens and keys, by the names of the options that specify these files. */
  readonly secretFiles: SecretFiles;
}

/** @throws IdentityError USAGE_INVALID if the source, the target and the options cannot be combined */
export function readSettings(call: MigrationCall): MigrationSettings {
  const { dryRun: _, ids: __, ...imported } = importOptionsOf(call);
  const { orgIds, excludedOrgIds } = imported;
  const mirrored = mirrorOptionsOf(call.options);
  const [from, to] = [parsePlace(call.options.from).name, parsePlace(call.options.to).name];
  requireRereadable(from, to);
  requireOther(from, to);
  if (call.options.report !== undefined && isFilePlace(to) && resolve(to) === resolve(call.options.report))
    throw usageError(`--to and --report are the same file, ${to}: specify another report`);
  if (isFilePlace(from) && orgIds.length + excludedOrgIds.length > 0)
    throw usageError(
      `a migration moves all organisations of the file ${from}, so --org and --exclude-org have no effect: select organisations when you export the file, or use \`identity import\` with --org`,
    );
  const selection = { orgIds: [...new Set(orgIds)], excludedOrgIds: [...new Set(excludedOrgIds)] };
  return {
    ...exportOptionsOf(call),
    ...imported,
    ...mirrored,
    ...selection,
    from,
    to,
    secretFiles: givenSecretFiles(call.options),
  };
}

/** Whether a place is a file or an object. An import from such a place always includes all records of the file. */
export function isFilePlace(place: string): boolean {
  return ['file', 'object'].includes(parsePlace(place).kind);
}

function givenSecretFiles(options: SecretFiles): SecretFiles {
  const names = secretKinds.flatMap(({ name }) => secretOptionNames(name));
  const entries = names.flatMap((name) =>
    options[name] === undefined ? [] : [[name, resolve(options[name])] as const],
  );
  return Object.fromEntries(entries);
}

export function sourceOptions(settings: MigrationSettings): PlaceExportOptions {
  const { from: _, to: __, secretFiles: ___, ...options } = settings;
  return options;
}

const everything = { orgIds: [], excludedOrgIds: [] };

/**
 * Returns options that select all records of the stored export, because the export contains only the selected records.
 */
export function stagedOptions(settings: MigrationSettings): PlaceExportOptions {
  return { ...sourceOptions(settings), ...everything };
}

export function targetOptions(settings: MigrationSettings, dryRun: boolean): PlaceImportOptions {
  const { from: _, to: __, secretFiles: ___, ...options } = settings;
  const { withPasswords, withOtp, withKeys } = options;
  // The export contains only the selected organisations, so the import needs no selection. The exception is a mirroring
  // import, because it rejects the default organisation unless the call selects this organisation by its id.
  const selected = options.mirror === true ? { ...everything, orgIds: options.orgIds } : everything;
  return { ...options, ...selected, asked: { withPasswords, withOtp, withKeys }, dryRun, ids: false };
}

export function shownOptions(settings: MigrationSettings): ShownOptions {
  const { onConflict, orgIds, excludedOrgIds, accepted = [], mirror, replaceChanged } = settings;
  return {
    onConflict,
    orgIds,
    excludedOrgIds,
    accepted,
    ...(mirror === true ? { mirror, ...defined({ replaceChanged }) } : {}),
    secrets: [...selectedKinds(settings)],
  };
}

/**
 * Returns the command line that repeats a call. Its words are quoted for a shell.
 * @param changed new values of options; false leaves an option out
 * @example callCommand(call, settings, { expect: false }); // identity migrate --from a.json --to 'sqlite:./my dir'
 * --with none
 */
export function callCommand(
  { options }: MigrationCall,
  settings: MigrationSettings,
  changed: Readonly<Record<string, string | boolean>> = {},
): string {
  const secrets = selectedKinds(settings).join(',') || 'none';
  const { json: _, ...others } = options;
  const accept = settings.accepted?.join(',');
  const words = Object.entries({ ...others, accept, with: secrets, ...changed }).flatMap(([name, value]) =>
    [value].flat().flatMap((element) => optionWords(name, element)),
  );
  return callText(['migrate', ...words].join(' '));
}

function optionWords(name: string, value: string | number | boolean | { readonly text: string } | undefined): string[] {
  if (value === undefined || value === false) return [];
  if (value === true) return [`--${name}`];
  return [`--${name} ${shellWord(typeof value === 'object' ? value.text : String(value))}`];
}
