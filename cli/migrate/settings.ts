// The settings of a migration, which its state contains.

import { resolve } from 'node:path';
import { z } from 'zod';
import { exportOptions } from '../../functions/export/contract.ts';
import { importOptions } from '../../functions/import/contract.ts';
import { UsageError } from '../command.ts';
import type { PlaceExportOptions, PlaceImportOptions } from '../exports/placeInterfaces.ts';
import { parsePlace, requireOther, requireRereadable } from '../places/parsePlace.ts';
import { exportOptionsOf, importOptionsOf, type SecretFiles } from '../places/placeOptions.ts';
import type { PlanningCall } from './migrationOptions.ts';

const filePath = z.string();

/** The settings of a call that no request has. */
const ofCalls = { timeoutMs: z.number().optional(), unknownStates: z.literal('active').optional() };
/** The setting of an import into a ZITADEL, which no request has. */
const ofZitadel = { refusedHashes: z.literal('omit').optional() };
const exportSettings = z.object({ ...exportOptions, ...ofCalls }).omit({ timeout: true, forZitadel: true });
const importSettings = z
  .object({ ...importOptions, ...ofCalls, ...ofZitadel })
  .omit({ timeout: true, dryRun: true, ids: true, importId: true });

/** The settings of the import that a result shows, beside the secrets that moved. */
export const shownSettings = importSettings.omit({ withKeys: true, timeoutMs: true, unknownStates: true });

/** The schema of what a migration was told to do. Files of secrets are named, never read into it. */
export const migrationSettings = z.strictObject({
  from: z.string(),
  to: z.string(),
  ...exportSettings.shape,
  ...importSettings.shape,
  report: filePath.optional(),
  /** The files of tokens and keys, by the options that name them. */
  secretFiles: z.record(z.string(), filePath),
});

export type MigrationSettings = z.infer<typeof migrationSettings>;

const kindsOfSecrets = ['token-file', 'credentials-file'] as const;

/**
 * Reads what a call of `migrate` is told to do. Paths are absolute, so that it can be resumed from elsewhere.
 * @throws UsageError
 */
export function readSettings(call: PlanningCall): MigrationSettings {
  const options = { ...exportSettings.parse(exportOptionsOf(call)), ...importSettings.parse(importOptionsOf(call)) };
  const { orgIds, excludedOrgIds } = options;
  const [from, to] = [parsePlace(call.options.from).name, parsePlace(call.options.to).name];
  requireRereadable(from, to);
  requireOther(from, to);
  if (isFilePlace(from) && orgIds.length + excludedOrgIds.length > 0)
    throw new UsageError(
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

/** Whether a place is a file or an object, which is taken as it is. */
export function isFilePlace(place: string): boolean {
  return ['file', 'object'].includes(parsePlace(place).kind);
}

/** Replaces files of secrets by those that a call names. */
export function replaceSecretFiles(settings: MigrationSettings, options: SecretFiles): MigrationSettings {
  const given = givenSecretFiles(options);
  const kept = Object.entries(settings.secretFiles).filter(
    ([name]) => !Object.keys(given).some((other) => isReplaced(name, other)),
  );
  return { ...settings, secretFiles: { ...Object.fromEntries(kept), ...given } };
}

/** Whether an option takes the place of an earlier one: the same, or either of them is for both sides. */
function isReplaced(earlier: string, later: string): boolean {
  return earlier === later || earlier.endsWith(`-${later}`) || later.endsWith(`-${earlier}`);
}

function givenSecretFiles(options: SecretFiles): Record<string, string> {
  const sides = kindsOfSecrets.flatMap((kind) => [kind, `from-${kind}`, `to-${kind}`] as const);
  const given = sides.flatMap((name) => (options[name] === undefined ? [] : [[name, resolve(options[name])] as const]));
  return Object.fromEntries(given);
}

/** Returns what a migration exports from the source. */
export function sourceOptions(settings: MigrationSettings): PlaceExportOptions {
  return { ...exportSettings.parse(settings), forZitadel: false };
}

const everything = { orgIds: [], excludedOrgIds: [] };

/** Returns how a migration reads its export, which holds what moves and nothing else. */
export function stagedOptions(settings: MigrationSettings): PlaceExportOptions {
  return { ...sourceOptions(settings), ...everything };
}

/** Returns how a migration imports its export, which holds what moves and nothing else. */
export function targetOptions(settings: MigrationSettings, dryRun: boolean): PlaceImportOptions {
  const { withPasswords, withOtp, withKeys } = settings;
  const asked = { withPasswords, withOtp, withKeys };
  return { ...importSettings.parse(settings), ...everything, asked, dryRun, ids: false };
}
