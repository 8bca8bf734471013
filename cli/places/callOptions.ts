import { onConflicts } from '../../functions/import/contract.ts';
import type { Call } from '../command.ts';
import { progressEvents, progressLines } from '../progress/outputs.ts';
import type { ProgressOutput } from '../progress/trackPhase.ts';
import { secretSelection } from '../secretKinds.ts';
import { parseSpan } from '../spans.ts';
import type { ExportOptions, ImportOptions } from './place.ts';

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
