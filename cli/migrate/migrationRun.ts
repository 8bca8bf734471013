// The state of a migration, and work on it in its run directory.

import { statSync } from 'node:fs';
import { z } from 'zod';
import { organisationsExist } from '../../shared/errors/errors.ts';
import {
  migrationStopped,
  placeFailed,
  placeLost,
  placeUnavailable,
  sourceMissing,
} from '../../shared/errors/placeErrors.ts';
import { InterruptedError, isUsageError, type Surroundings } from '../command.ts';
import { describeError } from '../describeError.ts';
import { placeImportResponse } from '../exports/importResponse.ts';
import type { ExportFile, FilePlace } from '../exports/placeInterfaces.ts';
import { openFile } from '../places/filePlace.ts';
import { progressOutput } from '../places/placeOptions.ts';
import { movedBy, type PhaseState, type ProgressOutput, pace } from '../progress.ts';
import { reconnecting } from '../reconnection.ts';
import { printable } from '../terminal.ts';
import { migrationPhase, timestamp } from './migrationDocuments.ts';
import {
  exportPath,
  lockRunDirectory,
  migrateCommand,
  readJson,
  removeExport,
  STATE_FILE,
  writeJson,
} from './runDirectory.ts';
import { migrationSettings, stagedOptions } from './settings.ts';

/** The facts about the export in the run directory. */
const stagedExport = z.strictObject({
  /** The size of the file in the run directory. */
  storedBytes: z.int(),
  /** The size of its JSON. */
  bytes: z.int(),
  /** Including the organisations themselves, and nested records. */
  records: z.int(),
  organisations: z.int(),
  readAt: timestamp,
  /** The digest of its records, as manifests have it. */
  digest: z.string(),
  instance: z.string().optional(),
  /** The source's default organisation, if a file contains it. */
  defaultOrgId: z.string().optional(),
  /** The user who exported the source, if the export contains it. */
  exportedBy: z.string().optional(),
  /** The states that the source did not return, which count as active: a sentence per organisation. */
  notices: z.array(z.string()),
  /** The excluded organisations, each with the reason. */
  leftOut: z.array(z.strictObject({ orgId: z.string(), reason: z.string() })),
});

const movedContent = z.strictObject({
  /** The response of the target's import, without lists of ids. */
  response: placeImportResponse.optional(),
  /** The file that the target has stored. */
  stored: z
    .strictObject({
      place: z.string(),
      bytes: z.int().exactOptional(),
      generation: z.string().exactOptional(),
      crc32c: z.string().exactOptional(),
    })
    .optional(),
});

/** The schema of a migration's state, which `state.json` contains. A completed step has its field. */
const migrationState = z.strictObject({
  version: z.literal(1),
  startedAt: timestamp,
  settings: migrationSettings,
  /** The users of both tokens, if known. */
  callers: z.strictObject({ from: z.string().optional(), to: z.string().optional() }),
  exported: stagedExport.optional(),
  plannedAt: timestamp.optional(),
  confirmedAt: timestamp.optional(),
  /** The time just before the first request of the import. */
  importBegunAt: timestamp.optional(),
  /** Whether the import took several requests, of which earlier ones may have written records. */
  importRepeated: z.literal(true).optional(),
  moved: movedContent.optional(),
  /** The phases of completed steps, each with the figures of its last attempt. */
  phases: z.array(migrationPhase),
  /** The times at which the migration was resumed. */
  resumedAt: z.array(timestamp),
  finishedAt: timestamp.optional(),
});

export type MigrationState = z.infer<typeof migrationState>;

export async function readMigrationState(directory: string): Promise<MigrationState> {
  const state = await readJson(directory, STATE_FILE, migrationState);
  if (state === undefined) throw new Error(`${directory} has no state`);
  return state;
}

/** Describes a migration by its places and its start. */
export function describeRun({ settings, startedAt }: MigrationState): string {
  return printable(`from ${settings.from} to ${settings.to}, started at ${startedAt}`);
}

/** Replaces the state of a migration, durably and atomically. */
export async function writeMigrationState(directory: string, state: MigrationState): Promise<void> {
  await writeJson(directory, STATE_FILE, state);
}

/** A running migration in its run directory. */
export class MigrationRun {
  readonly directory: string;
  readonly output: ProgressOutput;
  readonly signal: AbortSignal;
  private current: MigrationState;
  /** The phases since the last step, by their names. */
  private readonly newPhases = new Map<string, Phase>();

  constructor(
    directory: string,
    state: MigrationState,
    { output, signal }: { readonly output: ProgressOutput; readonly signal: AbortSignal },
  ) {
    this.directory = directory;
    this.current = state;
    this.output = {
      ...output,
      finish: (phase, hasSucceeded) => {
        output.finish(phase, hasSucceeded);
        this.newPhases.set(phase.phase, describePhase(phase, hasSucceeded));
      },
    };
    this.signal = signal;
  }

  get state(): MigrationState {
    return this.current;
  }

  /** The facts about the export, which the first step records. */
  get exported(): z.infer<typeof stagedExport> {
    const { exported } = this.current;
    if (exported === undefined) throw new Error(`${this.directory} has no facts about the export`);
    return exported;
  }

  /** The export in the run directory, as a place. */
  get export(): FilePlace {
    return { ...openFile(exportPath(this.directory)), name: 'the export' };
  }

  /** Opens the export. */
  openExport(): Promise<ExportFile> {
    return this.export.readExport(stagedOptions(this.state.settings), this.signal);
  }

  /** Whether the run directory contains the export that the state describes. */
  get hasExport(): boolean {
    const { exported } = this.current;
    const stored = statSync(exportPath(this.directory), { throwIfNoEntry: false });
    return exported !== undefined && stored?.size === exported.storedBytes;
  }

  /** Does idempotent work, and repeats it after a lost connection. */
  reconnecting<Result>(work: () => Promise<Result>): Promise<Result> {
    return reconnecting({ ...this, limitMs: this.state.settings.timeoutMs }, work);
  }

  /** The phases so far. A repeated phase has the figures of its last attempt. */
  get phases(): readonly Phase[] {
    return [...this.current.phases, ...this.newPhases.values()];
  }

  /** Records a completed step, durably. */
  async advance(change: Partial<MigrationState>): Promise<void> {
    await this.change({ ...change, phases: [...this.phases] });
    this.newPhases.clear();
  }

  /** Changes the state, durably. */
  async change(change: Partial<MigrationState>): Promise<void> {
    this.current = { ...this.current, ...change };
    await writeMigrationState(this.directory, this.current);
  }
}

type Phase = z.infer<typeof migrationPhase>;

function describePhase({ phase, seconds, records, bytes, unchanged }: PhaseState, succeeded: boolean): Phase {
  const startedAt = new Date(Date.now() - seconds * 1000).toISOString();
  const amounts = { records, ...(bytes === undefined ? {} : { bytes }), unchanged };
  return { phase, startedAt, seconds, ...amounts, perSecond: pace(movedBy(amounts), seconds), succeeded };
}

/**
 * Works on a migration while its run directory is locked.
 * @param work may change the state, which is read after locking
 * @throws InterruptedError or IdentityError with the command to continue; IdentityError ABORTED if another process holds the
 * lock
 */
export async function workAlone<Result>(
  call: Surroundings & { readonly options: { readonly json: boolean } },
  directory: string,
  event: 'started' | 'resumed',
  work: (run: MigrationRun) => Promise<Result>,
): Promise<Result> {
  using _lock = await lockRunDirectory(directory);
  const shown = { output: progressOutput(call), signal: call.signal };
  const run = new MigrationRun(directory, await readMigrationState(directory), shown);
  if (event === 'resumed') await run.change({ resumedAt: [...run.state.resumedAt, new Date().toISOString()] });
  // Printed now, because a second signal ends the process immediately.
  const interrupting = () => call.stderr.write('\ninterrupting the migration\n');
  if (!call.options.json) call.signal.addEventListener('abort', interrupting);
  try {
    return await work(run);
  } catch (error) {
    const isConfirmed = run.state.confirmedAt !== undefined;
    // Deletes the export if the user has not confirmed yet, because it contains secrets.
    if (!isConfirmed) await cleanUpAfterError(removeExport(directory), call);
    if (isUsageError(error) || (!isConfirmed && sourceMissing.is(error))) throw error;
    if (call.signal.aborted || error instanceof InterruptedError) {
      throw new InterruptedError(
        `interrupted: ${interruptionText(run.state)}; continue with ${migrateCommand('resume', directory)}`,
      );
    }
    // Resuming would fail at the same organisations, because the settings do not change.
    if (organisationsExist.is(error)) throw error;
    const { message } = describeError(error);
    const isRepeatable = placeFailed.is(error) || placeLost.is(error) || placeUnavailable.is(error);
    const problem = isRepeatable ? error.text : message;
    throw migrationStopped({ problem, next: migrateCommand('resume', directory) });
  } finally {
    call.signal.removeEventListener('abort', interrupting);
  }
}

/** Cleans up after an error. A failure to do so is a note, so that the error remains the one that the operator sees. */
export async function cleanUpAfterError(
  work: Promise<unknown>,
  { stderr }: Pick<Surroundings, 'stderr'>,
): Promise<void> {
  try {
    await work;
  } catch (error) {
    stderr.write(`could not clean up the run directory: ${describeError(error).message}\n`);
  }
}

/** Describes the state of an interrupted migration. */
export function interruptionText({ confirmedAt, moved, settings: { to } }: MigrationState): string {
  if (moved !== undefined) return `all records were sent to ${to}; not verified yet`;
  return confirmedAt === undefined ? 'nothing is changed' : `records that reached ${to} remain`;
}
