import { rm } from 'node:fs/promises';
import { IdentityError } from '../../shared/errors/identityError.ts';
import { objectNotFound } from '../../shared/errors/storageErrors.ts';
import { shellWord } from '../../shared/shellWord.ts';
import { interruptible, NOTHING_CHANGED, type Output } from '../command.ts';
import { openPlaces } from '../places/openPlaces.ts';
import { parsePlace } from '../places/parsePlace.ts';
import { askConfirmation } from '../questions.ts';
import { commandLine, type Line } from '../terminal.ts';
import { listUserDeletions, type ManualStep, manualSection } from './manualSteps.ts';
import type { MigrationCall } from './migrationOptions.ts';
import { describeRun, type MigrationState, readMigrationState } from './migrationRun.ts';
import { readShownPlan } from './plan.ts';
import { lockRunDirectory, migrateCommand, removeExport } from './runDirectory.ts';
import { isFilePlace, replaceSecretFiles } from './settings.ts';

/** The object that was the source of a migration. */
interface StagedObject {
  readonly name: string;
  /** The reason if it could not be opened or deleted. */
  readonly problem?: string;
  readonly remove?: (signal: AbortSignal) => Promise<void>;
}

/**
 * Deletes the remains of a migration after confirmation: its export, and the object that was its source. Keeps its result,
 * or deletes the run directory of an unfinished migration.
 */
export async function cleanUp(call: MigrationCall, directory: string): Promise<Output> {
  using _lock = await lockRunDirectory(directory);
  const stored = await readMigrationState(directory);
  const state = { ...stored, settings: replaceSecretFiles(stored.settings, call.options) };
  if (!call.options.json) call.stderr.write(`cleaning up the migration ${describeRun(stored)}: ${directory}\n`);
  const isFinished = state.finishedAt !== undefined;
  const object = await interruptible(call.signal, NOTHING_CHANGED, () => openSourceObject(call, state));
  const planned = await readShownPlan(directory);
  const users = planned === undefined ? [] : listUserDeletions(state, planned);
  const byHand = [...importedRecords(state), ...users];
  const removable = object?.remove === undefined ? [] : [`delete the object ${object.name}`];
  const lines = [
    ...(isFinished ? [] : ['the migration is not finished; after the cleanup it cannot be resumed']),
    ...removable,
    ...(isFinished ? keptLines(directory, state) : [`delete the run directory ${directory}`]),
  ];
  const needsAnswer = !isFinished || removable.length > 0;
  if (needsAnswer && !(await askConfirmation('Clean up?', call, lines))) {
    return {
      json: { event: 'result', removed: false, byHand },
      text: [...lines, 'nothing is deleted: add --yes', ...manualSection(byHand)],
      exitStatus: () => 'unconfirmed',
    };
  }
  const interruption = 'interrupted: repeat the command to delete the rest';
  const removed = await interruptible(call.signal, interruption, () => removeSourceObject(call.signal, object));
  return deleteRemainder(directory, state, removed, byHand);
}

async function deleteRemainder(
  directory: string,
  state: MigrationState,
  object: StagedObject | undefined,
  steps: readonly ManualStep[],
): Promise<Output> {
  const isDone = object?.problem === undefined;
  // The result of a finished migration stays. The deletion of an object can be retried with another key.
  const isGone = isDone && state.finishedAt === undefined;
  const hadExport = await removeExport(directory);
  if (isGone) await rm(directory, { recursive: true });
  const again = `kept: the run directory ${directory}, to try again; it contains no secrets`;
  const text = [
    ...(object !== undefined && isDone ? [`deleted: the object ${object.name}`] : []),
    ...(isGone ? [`deleted: the run directory ${directory}`] : isDone ? keptLines(directory, state) : [again]),
    ...(isDone ? [] : [`failed: the object ${object.name}: ${object.problem}`]),
  ];
  const byHand = isDone ? steps : [deletion(object), ...steps];
  return {
    json: { event: 'result', removed: isDone && (isGone || hadExport || object !== undefined), byHand },
    text: [...text, ...manualSection(byHand)],
    exitStatus: () => (isDone ? 'done' : 'listed'),
  };
}

function deletion({ name }: StagedObject): ManualStep {
  return { what: `delete the object ${name}`, command: `gcloud storage rm ${shellWord(name)}` };
}

/** Returns the manual step for records that an unfinished import has written. */
function importedRecords({ confirmedAt, finishedAt, settings: { to } }: MigrationState): ManualStep[] {
  if (confirmedAt === undefined || finishedAt !== undefined || isFilePlace(to)) return [];
  return [{ what: `delete the organisations imported into ${to}, if they should not stay` }];
}

function keptLines(directory: string, { moved }: MigrationState): Line[] {
  if (moved === undefined) return [`kept: the plan in ${directory}; nothing was moved, so there is no result`];
  return [
    `kept: the result in ${directory}, without export and secrets; as a page:`,
    commandLine(`${migrateCommand('report', directory)} --to FILE.html`),
  ];
}

/** Opens the object that was the source; returns undefined for another kind of source. */
async function openSourceObject(call: MigrationCall, { settings }: MigrationState): Promise<StagedObject | undefined> {
  const { secretFiles, from, to } = settings;
  if (parsePlace(from).kind !== 'object') return undefined;
  try {
    const [place] = await openPlaces(call, secretFiles, from, to);
    return place.takes === 'files' && place.remove !== undefined
      ? { name: from, remove: place.remove }
      : { name: from };
  } catch (error) {
    return { name: from, problem: problemOf(error) };
  }
}

async function removeSourceObject(
  signal: AbortSignal,
  object: StagedObject | undefined,
): Promise<StagedObject | undefined> {
  try {
    await object?.remove?.(signal);
    return object;
  } catch (error) {
    // An interrupted clean-up may have deleted the object.
    if (objectNotFound.is(error)) return object;
    return object && { ...object, problem: problemOf(error) };
  }
}

/** Returns the message of a place's error, so that the clean-up continues. Rethrows other errors. */
function problemOf(error: unknown): string {
  if (error instanceof IdentityError) return error.message;
  throw error;
}
