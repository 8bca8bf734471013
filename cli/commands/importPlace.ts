import type { ImportResponse } from '../../functions/import/contract.ts';
import type { ImportShare } from '../../functions/import/share.ts';
import { argument, type Call, InterruptedError, type Output, type RunAlone, required, UsageError } from '../command.ts';
import { exportOptions, importOptions, progressOutput } from '../places/callOptions.ts';
import { countedContent } from '../places/countedContent.ts';
import { openPlaces } from '../places/openPlaces.ts';
import type { DatabasePlace, ImportOptions, Place } from '../places/place.ts';
import { RecordCounter } from '../places/recordCounter.ts';
import { printable } from '../printable.ts';
import { trackPhase } from '../progress/trackPhase.ts';
import { readTask } from '../tasks.ts';

/** Runs `identity import`: an instance or a database imports from a place. */
export const importPlace: RunAlone = async (call) => {
  const [source, target] = await openPlaces(call, argument(call, 0), required(call, 'to'));
  if (target.takes !== 'imports')
    throw new UsageError(`${target.name} cannot import: specify an instance or a database, or use identity export`);
  const options = { ...importOptions(call), share: readShare(call, source, target) };
  const { signal } = call;
  const counter = new RecordCounter(source.name);
  try {
    await using content = await source.readExport(exportOptions(call), signal);
    let settled: (() => number) | undefined;
    const onStarted = (count: () => number) => {
      settled = count;
    };
    const meter = {
      records: () => settled?.() ?? counter.records,
      fraction: () => (settled === undefined ? content.fraction?.() : portion(settled(), counter.records)),
    };
    const response = await trackPhase(progressOutput(call), options.dryRun ? 'trying' : 'importing', meter, () =>
      target.import(countedContent(content, counter), options, { onStarted }, signal),
    );
    return imported(response, target.name, options);
  } catch (error) {
    if (!signal.aborted) throw error;
    throw new InterruptedError(interruption(target.name, options));
  }
};

/** Milliseconds without any sign of another task: a container that is started again takes minutes. */
const PATIENCE_MS = 15 * 60_000;

/**
 * Reads the share of this task.
 * @throws UsageError where tasks cannot divide the import: all must read the same bytes, and write to the same database
 */
function readShare(call: Call, source: Place, target: DatabasePlace): ImportShare | undefined {
  const { index, count, execution } = readTask(call.environment);
  if (count === 1) return undefined;
  const { onConflict, dryRun } = importOptions(call);
  if (source.takes !== 'files' || source.name === '-' || target.openParts === undefined)
    throw new UsageError('CLOUD_RUN_TASK_COUNT above 1 needs a file or an object as source, and firestore: as target');
  if (onConflict === 'overwrite' || dryRun)
    throw new UsageError('CLOUD_RUN_TASK_COUNT above 1 excludes --on-conflict overwrite and --dry-run: use one task');
  return { index, count, execution, patienceMs: PATIENCE_MS };
}

function portion(done: number, total: number): number | undefined {
  return total === 0 ? undefined : Math.min(1, done / total);
}

function interruption(target: string, { dryRun }: ImportOptions): string {
  if (dryRun) return `interrupted: nothing was written to ${target}`;
  return `interrupted: what ${target} has imported so far stays; repeat the command: it resumes`;
}

const MAX_LINES = 20;

function imported(response: ImportResponse, target: string, { dryRun }: ImportOptions): Output {
  const { errors = [], summary } = response;
  const { created, unchanged, overwritten = {}, skipped = {}, failed, notCarried } = summary;
  const outcomes = { created, unchanged, overwritten, skipped, failed, 'not carried': notCarried };
  const counts = Object.entries(outcomes).flatMap(([outcome, bySection]) => {
    const sections = Object.entries(bySection).map(([section, count]) => `${section} ${count}`);
    return sections.length === 0 ? [] : [`${outcome}: ${sections.join(', ')}`];
  });
  const heading = dryRun ? `tried an import into ${target}, nothing is written` : `imported into ${target}`;
  const lines = [
    `${heading}${summary.resumed ? ', resumed' : ''}`,
    ...counts,
    ...listed('error', errors, summary.errorsOmitted),
    ...listed('warning', summary.warnings, summary.warningsOmitted),
  ];
  return {
    json: { event: 'result', ...response },
    text: lines.map(printable).join('\n'),
    ending: () => (errors.length > 0 || Object.keys(failed).length > 0 ? 'listed' : 'done'),
  };
}

type Listed = NonNullable<ImportResponse['errors']>[number] | ImportResponse['summary']['warnings'][number];

function listed(kind: string, entries: readonly Listed[], omitted = 0): string[] {
  const lines = entries.slice(0, MAX_LINES).map(({ type, id, message }) => `${kind}: ${type} ${id ?? ''}: ${message}`);
  const more = entries.length + omitted - lines.length;
  return more === 0 ? lines : [...lines, `${more} more of this kind: --json lists them`];
}
