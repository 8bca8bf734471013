import type { ImportResponse } from '../../functions/import/contract.ts';
import { type ProgressOutput, trackPhase } from '../progress/trackPhase.ts';
import { countedContent } from './countedContent.ts';
import type { DatabasePlace, ExportContent, ImportOptions } from './place.ts';
import { RecordCounter } from './recordCounter.ts';

/**
 * Imports content into a place, and shows how many records are settled, where the place tells it, else how many are read.
 * @param name how messages call the content
 */
export function trackImport(
  target: DatabasePlace,
  { name, content }: { readonly name: string; readonly content: ExportContent },
  options: ImportOptions,
  output: ProgressOutput,
  signal: AbortSignal,
): Promise<ImportResponse> {
  const counter = new RecordCounter(name);
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
