// Imports and stores content, and shows the progress.

import { placeRefused } from '../../shared/errors/placeErrors.ts';
import { type Meter, type ProgressOutput, trackPhase, waitText } from '../terminal/progress.ts';
import { undisposed } from './fileContent.ts';
import { countSettled, outcomeCounts } from './importOutcomes.ts';
import type { ImportResponse } from './importResponse.ts';
import type {
  ComparedRecords,
  DatabasePlace,
  ExportFile,
  FilePlace,
  ImportMeter,
  ImportSettled,
  PlaceImportOptions,
  SentBytes,
  StoredFile,
} from './placeInterfaces.ts';
import { RecordCounter } from './recordCounter.ts';

interface ReadContent {
  /** The content's name in messages. */
  readonly name: string;
  readonly content: ExportFile;
  /** Counts the content's records; a new counter by default. */
  readonly counter?: RecordCounter;
}

/** The phase in which a target settles records. */
const IMPORTING = 'importing';

/** Imports content into a place, and shows its phases: sending, for some places uploading, and settling. */
export async function trackImport(
  target: Pick<DatabasePlace, 'import'>,
  { name, content, counter = new RecordCounter(name) }: ReadContent,
  options: PlaceImportOptions,
  output: ProgressOutput,
  signal: AbortSignal,
): Promise<ImportResponse> {
  const begun = Promise.withResolvers<Parameters<ImportMeter['onBegun']>>();
  const uploading = Promise.withResolvers<SentBytes>();
  const started = Promise.withResolvers<undefined>();
  let settled = (): ImportSettled => ({ records: 0, unchanged: 0, total: 0 });
  const onStarted = (read: () => ImportSettled) => {
    settled = read;
    started.resolve(undefined);
  };
  const onBegun: ImportMeter['onBegun'] = (...phase) => begun.resolve(phase);
  const waits = new WaitClock();
  const onWait: ImportMeter['onWait'] = (holder) => {
    waits.change(holder !== undefined);
    if (holder !== undefined) output.wait(waitText(holder));
  };
  const meter: ImportMeter = { onBegun, onUploading: uploading.resolve, onStarted, onWait, onRetry: output.retry };
  const importing = target.import(countedContent(content, counter), options, meter, signal).catch((error: unknown) => {
    // The target knows only paths in the content.
    throw placeRefused.is(error) ? error.withParams({ content: name }) : error;
  });
  const ended = Promise.race([started.promise, importing.then(() => undefined)]);
  const next = Promise.race([uploading.promise, ended]);
  const [first, compared] = await Promise.race([begun.promise, next.then(() => ['sending'] as const)]);
  const given = compared === undefined ? meterOf(content, counter) : meterOfRecords(compared);
  const sent = await trackPhase(output, first, given, () => next);
  if (sent !== undefined) {
    const { bytes, total } = sent;
    await trackPhase(output, 'uploading', { records: () => 0, bytes, fraction: () => bytes() / total }, () => ended);
  }
  const waitedMs = () => waits.elapsedMs;
  const taken = { ...meterOfRecords(() => settled()), unchanged: () => settled().unchanged, waitedMs };
  const count = ({ summary }: ImportResponse) => countSettled(outcomeCounts(summary));
  return await trackPhase(output, options.dryRun ? 'trying' : IMPORTING, taken, () => importing, count);
}

/** The time that an import waits for other operations. */
class WaitClock {
  private pastMs = 0;
  private since: number | undefined;

  change(waits: boolean): void {
    this.pastMs = this.elapsedMs;
    this.since = waits ? performance.now() : undefined;
  }

  get elapsedMs(): number {
    return this.pastMs + (this.since === undefined ? 0 : performance.now() - this.since);
  }
}

/** Measures how many of a known number of records are done. */
export function meterOfRecords(read: () => ComparedRecords): Meter {
  const shareOf = ({ records, total }: ComparedRecords) => (total === 0 ? undefined : records / total);
  return { records: () => read().records, fraction: () => shareOf(read()) };
}

/** Stores content in a place, and shows the number of records. */
export function trackStore(
  target: FilePlace,
  { name, content, counter = new RecordCounter(name) }: ReadContent,
  phase: string,
  output: ProgressOutput,
  signal: AbortSignal,
): Promise<StoredFile> {
  return trackPhase(output, phase, meterOf(content, counter), () =>
    target.store(counter.count(content, signal), signal).catch(async (error: unknown) => {
      throw signal.aborted ? error : ((await content.deleteAfter?.(error)) ?? error);
    }),
  );
}

/** Measures how much of some content was read. */
export function meterOf(content: ExportFile, counter: RecordCounter): Meter {
  return { records: () => counter.records, fraction: () => content.fraction?.() };
}

/** Counts the records of content in its first reading; who reads it validates it. The caller still disposes of the content. */
export function countedContent(content: ExportFile, counter: RecordCounter): ExportFile {
  let isFirst = true;
  return {
    isRepeatable: content.isRepeatable,
    size: content.size,
    open(signal) {
      const result = isFirst ? counter.count(content, signal, true) : content.open(signal);
      isFirst = false;
      return result;
    },
    ...undisposed,
  };
}
