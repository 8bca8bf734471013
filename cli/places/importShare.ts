import type { ImportShare } from '../../functions/import/share.ts';
import { type Call, UsageError } from '../command.ts';
import { readTask } from '../tasks.ts';
import type { DatabasePlace, ImportOptions, Place } from './place.ts';

/** Milliseconds without any sign of another task: a container that is started again takes minutes. */
const PATIENCE_MS = 15 * 60_000;

/**
 * Reads the share of this task in an import.
 * @returns undefined for the only task
 * @throws UsageError where tasks cannot divide the import: all must read the same bytes, and write to the same database
 */
export function readShare(
  { environment }: Call,
  source: Place,
  target: DatabasePlace,
  { onConflict, dryRun }: ImportOptions,
): ImportShare | undefined {
  const { index, count, execution } = readTask(environment);
  if (count === 1) return undefined;
  if (source.takes !== 'files' || source.name === '-' || target.openParts === undefined)
    throw new UsageError('CLOUD_RUN_TASK_COUNT above 1 needs a file or an object as source, and firestore: as target');
  if (onConflict === 'overwrite' || dryRun)
    throw new UsageError('CLOUD_RUN_TASK_COUNT above 1 excludes --on-conflict overwrite and --dry-run: use one task');
  return { index, count, execution, patienceMs: PATIENCE_MS };
}
