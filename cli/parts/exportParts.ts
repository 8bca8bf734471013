import { objectExists } from '../../shared/errors/storageErrors.ts';
import { createCloudStorage } from '../../shared/objectStorage/cloudStorage.ts';
import type { ObjectLocation, ObjectStorage } from '../../shared/objectStorage/objectStorage.ts';
import type { ExportedManifest } from '../../shared/organisation/exportFile.ts';
import type { PartsDocument } from '../../shared/organisation/partsDocument.ts';
import type { DatabasePlace, ExportOptions, PartSource } from '../places/place.ts';
import { RecordCounter } from '../places/recordCounter.ts';
import type { Task } from '../tasks.ts';
import { type BegunExport, beginExport, type PlannedPart } from './plan.ts';
import { createJson, objectUri } from './storedJson.ts';
import { findFinished, findPart, readFinished, toDocument, verifyPart, type WrittenPart } from './writtenPart.ts';

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
  const storage = createCloudStorage();
  const { orgIds: _, excludedOrgIds, timeoutMs: _timeout, ...flags } = options;
  const request = {
    source: source.name,
    options: JSON.stringify([flags, excludedOrgIds.toSorted(), count]),
    count,
    execution: task.execution,
  };
  const finished = await findFinished(storage, target, request, signal);
  if (finished !== undefined) return finishedResult(finished);
  const begun = await beginExport(
    storage,
    target,
    request,
    (readTime) => source.openParts(options, readTime, signal),
    signal,
  );
  await using state = begun.source;
  if (begun.abandoned.length > 0) meter.onAbandoned(begun.abandoned);
  const { written, kept } = await writeParts(storage, begun, task, meter, signal);
  const found = await findAll(storage, begun, signal);
  const [first, ...others] = found.flatMap((part) => (part === undefined ? [] : [part]));
  const { abandoned } = begun;
  const readTime = state.readTime.toISOString();
  const missing = begun.parts.length - others.length - 1;
  if (first === undefined || missing > 0) return { readTime, written, kept, missing, abandoned, manifest: undefined };
  const document = toDocument([first, ...others], task.execution);
  if (!(await createJson(storage, target, document, signal))) {
    const other = await readFinished(storage, target, signal);
    if (other?.manifest.readTime !== readTime) throw objectExists(target);
  }
  return { readTime, written, kept, missing, abandoned, manifest: document.manifest };
}

function finishedResult({ manifest }: PartsDocument): PartsResult {
  return { readTime: manifest.readTime, written: 0, kept: 0, missing: 0, abandoned: [], manifest };
}

async function writeParts(
  storage: ObjectStorage,
  { source, parts }: BegunExport,
  task: PartsExport['task'],
  meter: PartsMeter,
  signal: AbortSignal,
): Promise<{ written: number; kept: number }> {
  const done = { written: 0, kept: 0 };
  for (const [index, part] of parts.entries()) {
    if (index % task.count !== task.index) continue;
    const found = await findPart(storage, part, source.readTime, signal);
    if (found === undefined) {
      await writePart(storage, source, part, meter, signal);
      done.written++;
    } else {
      await verifyPart(storage, part, found, signal);
      done.kept++;
    }
  }
  return done;
}

async function writePart(
  storage: ObjectStorage,
  source: PartSource,
  { range, location }: PlannedPart,
  meter: PartsMeter,
  signal: AbortSignal,
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
async function findAll(
  storage: ObjectStorage,
  { source, parts }: BegunExport,
  signal: AbortSignal,
): Promise<(WrittenPart | undefined)[]> {
  const found: (WrittenPart | undefined)[] = [];
  for (let start = 0; start < parts.length; start += FOUND_AT_ONCE) {
    const batch = parts.slice(start, start + FOUND_AT_ONCE);
    found.push(...(await Promise.all(batch.map((part) => findPart(storage, part, source.readTime, signal)))));
  }
  return found;
}
