import { placeRefused } from '../../shared/errors/placeErrors.ts';
import { counted } from '../terminal/numberTexts.ts';
import {
  type CallContext,
  type Meter,
  type PhaseState,
  type RunningPhase,
  span,
  startPhase,
  trackPhase,
} from '../terminal/progress.ts';
import { undisposed } from './fileContent.ts';
import { countSettled, outcomeCounts } from './importOutcomes.ts';
import type { ImportResponse } from './importResponse.ts';
import type {
  DatabasePlace,
  DoneRecords,
  ExportFile,
  FilePlace,
  ImportMeter,
  ImportPhase,
  PlaceImportOptions,
  StoredFile,
} from './placeInterfaces.ts';
import { RecordCounter } from './recordCounter.ts';

export interface ReadContent {
  /** The name of the content's source in messages. */
  readonly name: string;
  readonly content: ExportFile;
  /** Counts the content's records. If absent, the transfer creates a counter. */
  readonly counter?: RecordCounter;
}

export async function trackImport(
  target: Pick<DatabasePlace, 'import'>,
  { name, content, counter = new RecordCounter(name) }: ReadContent,
  options: PlaceImportOptions,
  { output, signal }: CallContext,
): Promise<ImportResponse> {
  const waits = new WaitClock();
  let running: RunningPhase | undefined;
  let current: { readonly phase: ImportPhase; done: (() => DoneRecords) | undefined } | undefined;
  let checking: NodeJS.Timeout | undefined;
  const begin = (phase: string, meter: Meter) => {
    clearTimeout(checking);
    running?.end(true);
    running = startPhase(output, phase, meter);
  };
  const onPhase: ImportMeter['onPhase'] = (phase, done) => {
    if (phase === current?.phase) {
      current.done = done;
      return;
    }
    const begun = { phase, done };
    current = begun;
    const shown = phase === 'importing' && options.dryRun ? 'trying' : phase;
    const ofRecords = (first: () => DoneRecords) => meterOfRecords(() => (begun.done ?? first)());
    begin(
      shown,
      done === undefined ? meterOf(content, counter) : { ...ofRecords(done), waitedMs: () => waits.elapsedMs },
    );
  };
  const onWait: ImportMeter['onWait'] = (holder) => {
    waits.change(holder !== undefined);
    if (holder !== undefined) output.wait(holder);
  };
  // The target reads the whole file first, then checks it, and only then writes records. So the progress shows the
  // check as a phase of its own.
  const check = () => begin('checking', { records: () => counter.records, isOpaque: true });
  const onRead = () => {
    if (current !== undefined && current.done === undefined) checking = setTimeout(check, CHECKING_AFTER_MS);
  };
  try {
    const onExcess: ImportMeter['onExcess'] = (excess) => output.warn(excessText(excess));
    const meter = { onPhase, onWait, onExcess, onRetry: output.retry };
    const response = await target.import(countedContent(content, counter, onRead), options, meter, signal);
    if (current?.phase !== 'importing') onPhase('importing', () => ({ records: 0, total: 0 }));
    running?.end(true, countSettled(outcomeCounts(response.summary)));
    return response;
  } catch (error) {
    running?.end(false);
    // The target's error contains a path within the content, but not the content's name. So this function adds the
    // name.
    throw placeRefused.is(error) ? error.withParams({ content: name }) : error;
  } finally {
    clearTimeout(checking);
  }
}

function excessText({ secondsNeeded, secondsLeft }: Parameters<ImportMeter['onExcess']>[0]): string {
  return `the import probably needs ${span(secondsNeeded)} more, but the timeout interrupts the import in ${span(secondsLeft)}: then repeat the command to continue`;
}

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

/** The time in milliseconds from the end of the reading until the progress shows that the target checks the file. */
const CHECKING_AFTER_MS = 2_000;

/** The phases in which the target may already write records. */
const WRITING = ['sending', 'reading', 'importing'] as const satisfies ImportPhase[];

/**
 * Describes what an interrupted import has changed in its target, as far as this process knows.
 * @param phases the phases of the import so far, by name
 */
export function changedText(
  target: string,
  phases: ReadonlyMap<string, Pick<PhaseState, 'records' | 'unchanged'>>,
): string {
  if (!WRITING.some((phase) => phases.has(phase))) return `nothing is changed in ${target}`;
  const { records, unchanged } = phases.get('importing') ?? { records: 0, unchanged: 0 };
  if (records === 0) return `${target} had not confirmed any record, but may have written records, which remain`;
  const reported = `${target} had confirmed ${counted(records, 'record')}`;
  if (records > unchanged) return `${reported}; all written records remain`;
  return `${reported}, all unchanged, but may have written further records, which remain`;
}

/** Creates a meter for work whose total number of records or bytes is known. */
export function meterOfRecords(read: () => DoneRecords): Meter {
  const shareOf = ({ records, bytes = records, total }: DoneRecords) => (total === 0 ? undefined : bytes / total);
  return {
    records: () => read().records,
    bytes: () => read().bytes,
    unchanged: () => read().unchanged ?? 0,
    fraction: () => shareOf(read()),
  };
}

export function trackStore(
  target: FilePlace,
  { name, content, counter = new RecordCounter(name) }: ReadContent,
  phase: string,
  { output, signal }: CallContext,
): Promise<StoredFile> {
  return trackPhase(output, phase, meterOf(content, counter), () =>
    target.store(counter.count(content, signal), signal).catch(async (error: unknown) => {
      throw signal.aborted ? error : ((await content.deleteAfter?.(error)) ?? error);
    }),
  );
}

/** @param expected the number of records in the content. Used if the size of the content is unknown */
export function meterOf(content: ExportFile, counter: RecordCounter, expected = 0): Meter {
  const shareOfExpected = () => (expected === 0 ? undefined : Math.min(1, counter.records / expected));
  return { records: () => counter.records, fraction: () => content.fraction?.() ?? shareOfExpected() };
}

/**
 * Returns the same content, but counts its records with `counter` during the first complete reading. The reader must
 * validate the records. The caller still disposes of the original content.
 * @param onRead called at the end of the first complete reading
 */
export function countedContent(content: ExportFile, counter: RecordCounter, onRead = () => {}): ExportFile {
  let isCounted = false;
  async function* counted(signal: AbortSignal): AsyncGenerator<Uint8Array> {
    yield* counter.count(content, signal, true);
    isCounted = true;
    onRead();
  }
  return {
    isRepeatable: content.isRepeatable,
    size: content.size,
    open: (signal) => (isCounted ? content.open(signal) : counted(signal)),
    ...undisposed,
  };
}
