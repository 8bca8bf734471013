import { onConflicts } from '../../functions/import/contract.ts';
import type { ImportShare } from '../../functions/import/share.ts';
import { type Call, UsageError } from '../command.ts';
import { progressEvents, progressLines } from '../progress/outputs.ts';
import type { ProgressOutput } from '../progress/trackPhase.ts';
import { secretSelection } from '../secretKinds.ts';
import { parseSpan } from '../spans.ts';
import { readTask } from '../tasks.ts';
import type { DatabasePlace, ExportOptions, ImportOptions, Place } from './place.ts';

/** Returns what a call exports from a place with a database. */
export function exportOptions({ options, lists, flags }: Call): ExportOptions {
  return {
    orgIds: lists.org ?? [],
    excludedOrgIds: lists['exclude-org'] ?? [],
    ...secretSelection(options.with),
    forZitadel: flags.has('for-zitadel'),
    timeoutMs: options.timeout === undefined ? undefined : parseSpan(options.timeout),
  };
}

/** Returns how a call imports. */
export function importOptions(call: Call): ImportOptions {
  const { options, flags } = call;
  const { orgIds, excludedOrgIds, withKeys, timeoutMs } = exportOptions(call);
  return {
    orgIds,
    excludedOrgIds,
    withKeys,
    timeoutMs,
    onConflict: onConflicts.parse(options['on-conflict'] ?? 'report'),
    newOrgsOnly: flags.has('new-orgs-only'),
    dryRun: flags.has('dry-run'),
  };
}

/** Returns where a call shows its progress: with `--json` beside the result, else on standard error. */
export function progressOutput({ flags }: Call, stream: 'stdout' | 'stderr' = 'stdout'): ProgressOutput {
  return flags.has('json') ? progressEvents(process[stream]) : progressLines(process.stderr);
}

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
