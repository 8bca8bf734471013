import { total } from '../../shared/collections/counts.ts';
import { objectExists } from '../../shared/errors/storageErrors.ts';
import { createCloudStorage } from '../../shared/objectStorage/cloudStorage.ts';
import { objectUri } from '../../shared/objectStorage/objectName.ts';
import type { ObjectLocation } from '../../shared/objectStorage/objectStorage.ts';
import type { ExportedManifest } from '../../shared/organisation/exportFile.ts';
import type { PartsDocument } from '../../shared/organisation/partsDocument.ts';
import { InterruptedError, type Output, type Surroundings, UsageError } from '../command.ts';
import type { DatabasePlace, ExportOptions, FilePlace, Place } from '../places/place.ts';
import { RecordCounter } from '../places/recordCounter.ts';
import { type ProgressOutput, trackPhase } from '../progress.ts';
import { readTask, type Task } from '../tasks.ts';
import { counted, numberText } from '../texts.ts';
import { type BegunExport, beginExport, createJson, type PartsCall, type PlannedPart } from './plan.ts';
import { findFinished, findPart, readFinished, toDocument, verifyPart, type WrittenPart } from './writtenPart.ts';

interface ExportInPartsCall extends Pick<Surroundings, 'environment' | 'signal' | 'stderr'> {
  readonly source: Place;
  readonly target: FilePlace;
  readonly count: number;
  readonly options: ExportOptions;
  readonly progress: ProgressOutput;
}

/** Runs `identity export --parts`. */
export async function exportInParts(call: ExportInPartsCall): Promise<Output> {
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
function partsExport({ source, target: { object }, count, options, environment }: ExportInPartsCall): PartsExport {
  if (object === undefined) throw new UsageError(`--parts writes objects: specify --to gs://BUCKET/PATH`);
  if (object.path.endsWith('.gz'))
    throw new UsageError('--parts writes uncompressed objects: specify a path that does not end in .gz');
  const { name, openParts } = source.takes === 'imports' ? source : { name: source.name };
  if (openParts === undefined)
    throw new UsageError(`${name} cannot be exported in parts: specify firestore:PROJECT[/DATABASE]`);
  if (options.orgIds.length > 0)
    throw new UsageError('--parts and --org are mutually exclusive: specify --exclude-org, or export without --parts');
  if (options.forZitadel)
    throw new UsageError('--parts and --for-zitadel are mutually exclusive: export without --parts');
  if (count < 1 || count > MAX_PARTS) throw new UsageError(`--parts must be a number from 1 to ${MAX_PARTS}`);
  return { source: { name, openParts }, target: object, options, count, task: readTask(environment) };
}

function exported({ manifest, ...result }: PartsResult, place: string): Output {
  const { written, kept, missing, readTime } = result;
  const parts = `${counted(written, 'part')} written, ${numberText(kept)} kept`;
  if (manifest === undefined)
    return {
      json: { event: 'result', ...result, complete: false },
      text: `${parts}; not complete yet: ${counted(missing, 'part')}; the task that completes the last one writes ${place}`,
    };
  const { orgs: organisations = 0, ...counts } = manifest.counts;
  const records = total(counts);
  const outcome = written + kept === 0 ? 'nothing was left to write' : parts;
  return {
    json: { event: 'result', ...result, complete: true, organisations, records, place },
    text: `exported ${counted(organisations, 'organisation')} with ${counted(records, 'record')} as of ${readTime} to ${place}: ${outcome}`,
  };
}

/** An export in parts. */
export interface PartsExport {
  readonly source: Pick<DatabasePlace, 'name'> & Required<Pick<DatabasePlace, 'openParts'>>;
  readonly target: ObjectLocation;
  readonly options: ExportOptions;
  readonly count: number;
  readonly task: Task;
}

/** What a call of an export in parts has done. */
export interface PartsResult {
  readonly readTime: string;
  /** The parts that this call has written. */
  readonly written: number;
  /** The parts of this call that were complete before, and are verified. */
  readonly kept: number;
  /** The parts that other tasks have not completed yet; the last task writes the document. */
  readonly missing: number;
  readonly abandoned: readonly string[];
  /** The manifest of the whole, once all parts are complete. */
  readonly manifest: ExportedManifest | undefined;
}

/** What a running call reports. */
export interface PartsMeter {
  records: number;
  onAbandoned(readTimes: readonly string[]): void;
}

/**
 * Exports a database in parts, each an export file of its own, and writes the document that names them once all are
 * complete. Every call continues what earlier ones and other tasks have written, as long as the database keeps the moment
 * of the export.
 */
export async function exportParts(
  { source, target, options, count, task }: PartsExport,
  meter: PartsMeter,
  signal: AbortSignal,
): Promise<PartsResult> {
  const { orgIds: _, excludedOrgIds, timeoutMs: _timeout, ...flags } = options;
  const request = {
    source: source.name,
    options: JSON.stringify([flags, excludedOrgIds.toSorted(), count]),
    count,
    execution: task.execution,
  };
  const call = { storage: createCloudStorage(), target, request, signal };
  const finished = await findFinished(call);
  if (finished !== undefined) return finishedResult(finished);
  const begun = await beginExport(call, (readTime) => source.openParts(options, readTime, signal));
  await using state = begun.source;
  const { abandoned } = begun;
  if (abandoned.length > 0) meter.onAbandoned(abandoned);
  const { written, kept } = await writeParts(call, begun, task, meter);
  const found = await findAll(call, begun);
  const [first, ...others] = found.filter((part) => part !== undefined);
  const readTime = state.readTime.toISOString();
  const missing = begun.parts.length - others.length - 1;
  if (first === undefined || missing > 0) return { readTime, written, kept, missing, abandoned, manifest: undefined };
  const document = toDocument([first, ...others], task.execution);
  if (!(await createJson(call, target, document))) {
    const other = await readFinished(call);
    if (other?.manifest.readTime !== readTime) throw objectExists(target);
  }
  return { readTime, written, kept, missing, abandoned, manifest: document.manifest };
}

function finishedResult({ manifest }: PartsDocument): PartsResult {
  return { readTime: manifest.readTime, written: 0, kept: 0, missing: 0, abandoned: [], manifest };
}

async function writeParts(
  call: PartsCall,
  begun: BegunExport,
  task: Task,
  meter: PartsMeter,
): Promise<{ written: number; kept: number }> {
  const done = { written: 0, kept: 0 };
  for (const [index, part] of begun.parts.entries()) {
    if (index % task.count !== task.index) continue;
    const found = await findPart(call, part, begun.source.readTime);
    if (found === undefined) {
      await writePart(call, begun, part, meter);
      done.written++;
    } else {
      await verifyPart(call, part, found);
      done.kept++;
    }
  }
  return done;
}

async function writePart(
  { storage, signal }: PartsCall,
  { source }: BegunExport,
  { range, location }: PlannedPart,
  meter: PartsMeter,
): Promise<void> {
  const counter = new RecordCounter(objectUri(location));
  const before = meter.records;
  async function* counted(): AsyncGenerator<Uint8Array> {
    for await (const chunk of counter.count(source.export(range, location).bytes)) {
      meter.records = before + counter.records;
      yield chunk;
    }
  }
  await storage.write(location, counted(), signal);
}

const FOUND_AT_ONCE = 16;

/** Finds all parts, in their order; undefined for those that are not complete. */
async function findAll(call: PartsCall, { source, parts }: BegunExport): Promise<(WrittenPart | undefined)[]> {
  const found: (WrittenPart | undefined)[] = [];
  for (let start = 0; start < parts.length; start += FOUND_AT_ONCE) {
    const batch = parts.slice(start, start + FOUND_AT_ONCE);
    found.push(...(await Promise.all(batch.map((part) => findPart(call, part, source.readTime)))));
  }
  return found;
}
