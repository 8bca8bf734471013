import { objectUri } from '../../shared/objectStorage/objectName.ts';
import { InterruptedError, type Output, type Surroundings, UsageError } from '../command.ts';
import type { ExportOptions, FilePlace, Place } from '../places/place.ts';
import { type ProgressOutput, trackPhase } from '../progress.ts';
import { readTask } from '../tasks.ts';
import { exportParts, type PartsExport, type PartsResult } from './exportParts.ts';

/** What `identity export --parts` is to do. */
interface PartsCall extends Pick<Surroundings, 'environment' | 'signal' | 'stderr'> {
  readonly source: Place;
  readonly target: FilePlace;
  readonly count: number;
  readonly options: ExportOptions;
  readonly progress: ProgressOutput;
}

/** Runs `identity export --parts`. */
export async function exportInParts(call: PartsCall): Promise<Output> {
  const request = partsExport(call);
  const { signal, stderr, progress } = call;
  const meter = {
    records: 0,
    onAbandoned: (readTimes: readonly string[]) =>
      void stderr.write(
        `the state of ${readTimes.join(', ')} is no longer available: the export begins anew; the earlier parts can be deleted\n`,
      ),
  };
  try {
    const result = await trackPhase(progress, 'exporting', { records: () => meter.records }, () =>
      exportParts(request, meter, signal),
    );
    return exported(result, objectUri(request.target));
  } catch (error) {
    if (!signal.aborted) throw error;
    throw new InterruptedError('interrupted: complete parts are kept; repeat the command: it continues');
  }
}

const MAX_PARTS = 9_999;

/** @throws UsageError */
function partsExport({ source, target: { object }, count, options, environment }: PartsCall): PartsExport {
  if (object === undefined) throw new UsageError(`--parts writes objects: specify --to gs://BUCKET/PATH`);
  if (object.path.endsWith('.gz'))
    throw new UsageError('--parts writes uncompressed objects: specify a path that does not end in .gz');
  const { name, openParts } = source.takes === 'imports' ? source : { name: source.name };
  if (openParts === undefined)
    throw new UsageError(`${name} cannot be exported in parts: specify firestore:PROJECT[/DATABASE]`);
  if (options.orgIds.length > 0 || options.forZitadel)
    throw new UsageError('--parts excludes --org and --for-zitadel: export without --parts');
  if (count < 1 || count > MAX_PARTS) throw new UsageError(`--parts must be a number from 1 to ${MAX_PARTS}`);
  return { source: { name, openParts }, target: object, options, count, task: readTask(environment) };
}

function exported({ manifest, ...result }: PartsResult, place: string): Output {
  const { written, kept, missing, readTime } = result;
  const parts = `${written} parts written, ${kept} kept`;
  if (manifest === undefined)
    return {
      json: { event: 'result', ...result, complete: false },
      text: `${parts}; ${missing} parts are not complete yet: the task that completes the last one writes ${place}`,
    };
  const { orgs: organisations = 0, ...counts } = manifest.counts;
  const records = Object.values(counts).reduce((sum, count) => sum + count, 0);
  const outcome = written + kept === 0 ? 'nothing was left to write' : parts;
  return {
    json: { event: 'result', ...result, complete: true, organisations, records, place },
    text: `exported ${organisations} organisations with ${records} records as of ${readTime} to ${place}: ${outcome}`,
  };
}
