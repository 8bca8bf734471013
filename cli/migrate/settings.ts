// The settings of a migration, which its state contains.

import { resolve } from 'node:path';
import { z } from 'zod';
import { exportOptions } from '../../functions/export/contract.ts';
import { importOptions } from '../../functions/import/contract.ts';
import { usageError } from '../command.ts';
import type { PlaceExportOptions, PlaceImportOptions } from '../exports/placeInterfaces.ts';
import { parsePlace, requireOther, requireRereadable } from '../places/parsePlace.ts';
import { exportOptionsOf, importOptionsOf, type SecretFiles } from '../places/placeOptions.ts';
import type { PlanningCall } from './migrationOptions.ts';

const filePath = z.string();

/** The settings of calls that are not part of a request. */
const ofCalls = { timeoutMs: z.number().optional(), unknownStates: z.literal('active').optional() };
/** The setting of an import into a ZITADEL, which is not part of a request. */
const ofZitadel = { refusedHashes: z.literal('omit').optional() };
const exportSettings = z.object({ ...exportOptions, ...ofCalls }).omit({ timeout: true, forZitadel: true });
const importSettings = z
  .object({ ...importOptions, ...ofCalls, ...ofZitadel })
  .omit({ timeout: true, dryRun: true, ids: true });

/** The settings of the import that a result contains. */
export const shownSettings = importSettings.omit({ withKeys: true, timeoutMs: true, unknownStates: true });

/** The schema of a migration's settings. They contain paths of files with secrets, never secrets. */
export const migrationSettings = z.strictObject({
  from: z.string(),
  to: z.string(),
  ...exportSettings.shape,
  ...importSettings.shape,
  report: filePath.optional(),
  /** The paths of files with tokens and keys, by option. */
  secretFiles: z.record(z.string(), filePath),
});

export type MigrationSettings = z.infer<typeof migrationSettings>;

const kindsOfSecrets = ['token-file', 'credentials-file'] as const;

/**
 * Reads the settings from a call. Paths are absolute, so that the migration can be resumed from another directory.
 * @throws IdentityError USAGE_INVALID
 */
export function readSettings(call: PlanningCall): MigrationSettings {
  const options = { ...exportSettings.parse(exportOptionsOf(call)), ...importSettings.parse(importOptionsOf(call)) };
  const { orgIds, excludedOrgIds } = options;
  const [from, to] = [parsePlace(call.options.from).name, parsePlace(call.options.to).name];
  requireRereadable(from, to);
  requireOther(from, to);
  if (isFilePlace(from) && orgIds.length + excludedOrgIds.length > 0)
    throw usageError(
      `${from} is imported as it is, with all its organisations: select some when you export it, or use identity import with --org`,
    );
  const { report } = call.options;
  return {
    from,
    to,
    ...options,
    orgIds: [...new Set(orgIds)],
    excludedOrgIds: [...new Set(excludedOrgIds)],
    ...(report === undefined ? {} : { report: resolve(report) }),
    secretFiles: givenSecretFiles(call.options),
  };
}

/** Whether a place is a file or an object, which is copied as it is. */
export function isFilePlace(place: string): boolean {
  return ['file', 'object'].includes(parsePlace(place).kind);
}

/** Replaces files of secrets by those of a call's options. */
export function replaceSecretFiles(settings: MigrationSettings, options: SecretFiles): MigrationSettings {
  const given = givenSecretFiles(options);
  const kept = Object.entries(settings.secretFiles).filter(
    ([name]) => !Object.keys(given).some((other) => isReplaced(name, other)),
  );
  return { ...settings, secretFiles: { ...Object.fromEntries(kept), ...given } };
}

/** Whether an option replaces an earlier one: the same option, or one of them applies to both sides. */
function isReplaced(earlier: string, later: string): boolean {
  return earlier === later || earlier.endsWith(`-${later}`) || later.endsWith(`-${earlier}`);
}

function givenSecretFiles(options: SecretFiles): Record<string, string> {
  const sides = kindsOfSecrets.flatMap((kind) => [kind, `from-${kind}`, `to-${kind}`] as const);
  const given = sides.flatMap((name) => (options[name] === undefined ? [] : [[name, resolve(options[name])] as const]));
  return Object.fromEntries(given);
}

/** Returns the options of the source's export. */
export function sourceOptions(settings: MigrationSettings): PlaceExportOptions {
  return { ...exportSettings.parse(settings), forZitadel: false };
}

const everything = { orgIds: [], excludedOrgIds: [] };

/** Returns the options for reading the export in the run directory, which contains only selected records. */
export function stagedOptions(settings: MigrationSettings): PlaceExportOptions {
  return { ...sourceOptions(settings), ...everything };
}

/** Returns the options of the import into the target. */
export function targetOptions(settings: MigrationSettings, dryRun: boolean): PlaceImportOptions {
  const { withPasswords, withOtp, withKeys } = settings;
  const asked = { withPasswords, withOtp, withKeys };
  return { ...importSettings.parse(settings), ...everything, asked, dryRun, ids: false };
}
