import { type Call, InterruptedError, type Output, UsageError } from '../command.ts';
import { exportParts, type PartsExport, type PartsResult } from '../parts/exportParts.ts';
import { objectUri } from '../parts/storedJson.ts';
import { exportOptions, progressOutput } from '../places/callOptions.ts';
import type { Place } from '../places/place.ts';
import { trackPhase } from '../progress/trackPhase.ts';
import { readTask } from '../tasks.ts';

/** Runs `identity export --parts`. */
export async function exportInParts(call: Call, source: Place, target: Place, count: number): Promise<Output> {
  const request = partsExport(call, source, target, count);
  const { signal } = call;
  const meter = {
    records: 0,
    onAbandoned: (readTimes: readonly string[]) =>
      void process.stderr.write(
        `the state of ${readTimes.join(', ')} is no longer available: the export begins anew; the earlier parts can be deleted\n`,
      ),
  };
  try {
    const result = await trackPhase(progressOutput(call), 'exporting', { records: () => meter.records }, () =>
      exportParts(request, meter, signal),
    );
    return exported(result, objectUri(request.target));
  } catch (error) {
    if (!signal.aborted) throw error;
    throw new InterruptedError('interrupted: complete parts are kept; repeat the command: it continues');
  }
}

/** @throws UsageError */
function partsExport(call: Call, source: Place, target: Place, count: number): PartsExport {
  const object = target.takes === 'files' ? target.object : undefined;
  if (object === undefined) throw new UsageError(`--parts writes objects: specify --to gs://BUCKET/PATH`);
  if (object.path.endsWith('.gz'))
    throw new UsageError('--parts writes uncompressed objects: specify a path that does not end in .gz');
  const { name, openParts } = source.takes === 'imports' ? source : { name: source.name };
  if (openParts === undefined)
    throw new UsageError(`${name} cannot be exported in parts: specify firestore:PROJECT[/DATABASE]`);
  const options = exportOptions(call);
  if (options.orgIds.length > 0 || options.forZitadel)
    throw new UsageError('--parts excludes --org and --for-zitadel: export without --parts');
  if (count < 1 || count > MAX_PARTS) throw new UsageError(`--parts must be a number from 1 to ${MAX_PARTS}`);
  return { source: { name, openParts }, target: object, options, count, task: readTask(call.environment) };
}

const MAX_PARTS = 9_999;

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
