import type { ImportResponse } from '../../functions/import/contract.ts';
import { type ProgressOutput, trackPhase } from '../progress.ts';
import type { DatabasePlace, ExportContent, ImportOptions } from './place.ts';
import { RecordCounter } from './recordCounter.ts';

/** Content to import. */
interface ReadContent {
  /** How messages call the content. */
  readonly name: string;
  readonly content: ExportContent;
  /** Counts the content's records; by default one of its own. */
  readonly counter?: RecordCounter;
}

/**
 * Imports content into a place, and shows how many records are settled, where the place tells it, else how many are read.
 */
export function trackImport(
  target: DatabasePlace,
  { name, content, counter = new RecordCounter(name) }: ReadContent,
  options: ImportOptions,
  output: ProgressOutput,
  signal: AbortSignal,
): Promise<ImportResponse> {
  let settled: (() => number) | undefined;
  const onStarted = (count: () => number) => {
    settled = count;
  };
  const meter = {
    records: () => settled?.() ?? counter.records,
    fraction: () => (settled === undefined ? content.fraction?.() : portion(settled(), counter.records)),
  };
  return trackPhase(output, options.dryRun ? 'trying' : 'importing', meter, () =>
    target.import(countedContent(content, counter), options, { onStarted }, signal),
  );
}

function portion(done: number, total: number): number | undefined {
  return total === 0 ? undefined : Math.min(1, done / total);
}

/** Counts the records of content when it is read for the first time. The content's owner disposes of it. */
export function countedContent(content: ExportContent, counter: RecordCounter): ExportContent {
  let isFirst = true;
  return {
    isRepeatable: content.isRepeatable,
    open(signal) {
      const bytes = content.open(signal);
      const result = isFirst ? counter.count(bytes) : bytes;
      isFirst = false;
      return result;
    },
    [Symbol.asyncDispose]: async () => {},
  };
}
