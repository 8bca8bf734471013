import type { ImportResponse } from '../../functions/import/contract.ts';
import { argument, InterruptedError, type Output, type RunAlone, required, UsageError } from '../command.ts';
import { exportOptions, importOptions, progressOutput, readShare } from '../places/callOptions.ts';
import { openPlaces } from '../places/openPlaces.ts';
import type { ImportOptions } from '../places/place.ts';
import { type ExportedRequest, RecordCounter, requestLines } from '../places/recordCounter.ts';
import { trackImport } from '../places/trackImport.ts';
import { printable } from '../printable.ts';

/** Runs `identity import`: an instance or a database imports from a place. */
export const importPlace: RunAlone = async (call) => {
  const [source, target] = await openPlaces(call, argument(call, 0), required(call, 'to'));
  if (target.takes !== 'imports')
    throw new UsageError(`${target.name} cannot import: specify an instance or a database, or use identity export`);
  const given = importOptions(call);
  const options = { ...given, share: readShare(call, source, target, given) };
  const { signal } = call;
  try {
    await using content = await source.readExport(exportOptions(call), signal);
    const counter = new RecordCounter(source.name);
    const read = { name: source.name, content, counter };
    const response = await trackImport(target, read, options, progressOutput(call), signal);
    return imported(response, target.name, options, { losses: content.losses ?? [], request: counter.request });
  } catch (error) {
    if (!signal.aborted) throw error;
    throw new InterruptedError(interruption(target.name, options));
  }
};

function interruption(target: string, { dryRun }: ImportOptions): string {
  if (dryRun) return `interrupted: nothing was written to ${target}`;
  return `interrupted: what ${target} has imported so far stays; repeat the command: it resumes`;
}

const MAX_LINES = 20;

function imported(
  response: ImportResponse,
  target: string,
  { dryRun }: ImportOptions,
  { losses, request }: { readonly losses: readonly string[]; readonly request: ExportedRequest },
): Output {
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
    ...requestLines(request),
    ...losses.map((loss) => `in no export of a ZITADEL: ${loss}`),
  ];
  return {
    json: { event: 'result', ...response, ...request, ...(losses.length === 0 ? {} : { losses }) },
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
