import { join } from 'node:path';
import { z } from 'zod';
import { importResponse } from '../../functions/import/contract.ts';
import { completeFile } from '../../shared/durableFiles.ts';
import { readJson } from './runDirectory.ts';
import { migrationSettings } from './settings.ts';

const time = z.iso.datetime();

const stagedExport = z.strictObject({
  /** Of the file in the run directory. */
  storedBytes: z.int(),
  /** Of its JSON. */
  bytes: z.int(),
  records: z.int(),
  organisations: z.int(),
  readAt: time,
  /** The digest of its records, as manifests have it. */
  digest: z.string(),
  instance: z.string().optional(),
  /** The organisations that were named, and that the source does not have. */
  missing: z.array(z.string()),
  /** The user of the source's token, whose records are left out. */
  withoutUser: z.string().optional(),
});

const moved = z.strictObject({
  /** What the target's import responded, without lists of ids. */
  response: importResponse.optional(),
  /** What the target has stored. */
  stored: z
    .strictObject({
      place: z.string(),
      bytes: z.int().exactOptional(),
      generation: z.string().exactOptional(),
      crc32c: z.string().exactOptional(),
    })
    .optional(),
});

/** The schema of how far a migration has come: `state.json` of the run directory. A step that is done has its field. */
const migrationState = z.strictObject({
  version: z.literal(1),
  startedAt: time,
  settings: migrationSettings,
  /** The organisations that the source's defaults leave out, each with the reason. */
  leftOut: z.array(z.strictObject({ orgId: z.string(), reason: z.string() })).optional(),
  /** The users of both tokens, where the places tell them. */
  callers: z.strictObject({ from: z.string().optional(), to: z.string().optional() }).optional(),
  exported: stagedExport.optional(),
  plannedAt: time.optional(),
  consentedAt: time.optional(),
  moved: moved.optional(),
  finishedAt: time.optional(),
});

/** How far a migration has come. */
export type MigrationState = z.infer<typeof migrationState>;

/** What is known of the export in the run directory. */
export type StagedExport = z.infer<typeof stagedExport>;

const NAME = 'state.json';

/** Reads the state of a migration. */
export async function readState(directory: string): Promise<MigrationState> {
  const state = await readJson(directory, NAME, migrationState);
  if (state === undefined) throw new Error(`${directory} has no state`);
  return state;
}

/** Replaces the state of a migration, durably and at once. */
export async function writeState(directory: string, state: MigrationState): Promise<void> {
  await completeFile(join(directory, NAME), `${JSON.stringify(state)}\n`, 'replacing');
}
