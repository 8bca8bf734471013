import { argument, InterruptedError, type Output, type RunAlone, required, UsageError } from '../command.ts';
import { exportOptions, progressOutput } from '../places/callOptions.ts';
import { openPlaces } from '../places/openPlaces.ts';
import type { ExportOptions, FilePlace, Place, StoredFile } from '../places/place.ts';
import { RecordCounter, requestLines } from '../places/recordCounter.ts';
import { printable } from '../printable.ts';
import { trackPhase } from '../progress/trackPhase.ts';
import { exportInParts } from './exportInParts.ts';

/** Runs `identity export`: copies an export file from a place to another, which stores it. */
export const exportPlace: RunAlone = async (call) => {
  const [source, target] = await openPlaces(call, argument(call, 0), required(call, 'to'));
  if (target.takes !== 'files')
    throw new UsageError(`identity export writes files and objects: use identity import, with --to ${target.name}`);
  if (call.options.parts !== undefined) return exportInParts(call, source, target, Number(call.options.parts));
  const options = exportOptions(call);
  requireSelectable(source, options);
  await target.requireFree?.();
  const missing = new Set(options.orgIds);
  const counter = new RecordCounter(source.name, missing);
  // Standard output may take the file.
  const stream = target.name === '-' ? 'stderr' : 'stdout';
  try {
    await using content = await source.readExport(options, call.signal);
    const meter = { records: () => counter.records, fraction: () => content.fraction?.() };
    const stored = await trackPhase(progressOutput(call, stream), 'exporting', meter, () =>
      target.store(counter.count(content.open(call.signal)), call.signal),
    );
    return { ...exported(stored, counter, [...missing], content.losses), stream };
  } catch (error) {
    if (!call.signal.aborted) throw error;
    throw new InterruptedError(`interrupted: ${leftBehind(target)}; repeat the command`);
  }
};

/** A file is copied whole: only a database can select. */
function requireSelectable({ name, takes }: Place, options: ExportOptions): void {
  const { orgIds, excludedOrgIds, withPasswords, withOtp, withKeys, forZitadel } = options;
  const isSelective = orgIds.length + excludedOrgIds.length > 0 || withPasswords || withOtp || withKeys || forZitadel;
  if (takes === 'files' && isSelective)
    throw new UsageError(
      `${name} is copied whole: --org, --exclude-org, --with and --for-zitadel are for instances and databases`,
    );
}

function leftBehind({ name }: FilePlace): string {
  return name === '-' ? 'what is written to standard output is incomplete' : `nothing is left in ${name}`;
}

function exported(
  stored: StoredFile,
  { records, organisations, request }: RecordCounter,
  missing: readonly string[],
  losses: readonly string[] = [],
): Output {
  const lines = [
    `exported ${organisations} organisations with ${records} records to ${stored.place}, ${stored.bytes} bytes`,
    ...(missing.length === 0 ? [] : [`not found, and not exported: ${missing.join(', ')}`]),
    ...requestLines(request),
    ...losses.map((loss) => `in no export of a ZITADEL: ${loss}`),
  ];
  return {
    json: {
      event: 'result',
      organisations,
      records,
      ...stored,
      missing,
      ...request,
      ...(losses.length === 0 ? {} : { losses }),
    },
    text: lines.map(printable).join('\n'),
    ending: () => (missing.length === 0 ? 'done' : 'listed'),
  };
}
