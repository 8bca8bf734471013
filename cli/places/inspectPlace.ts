import { unlimited } from '../../functions/import/inspect/fileBudget.ts';
import { type Inspection, inspect, type RecordVisitor } from '../../functions/import/inspect/inspection.ts';
import { IdentityError } from '../../shared/errors/identityError.ts';
import { sourceInvalid } from '../../shared/errors/placeErrors.ts';
import { type ProgressOutput, trackPhase } from '../progress/trackPhase.ts';
import { countedContent } from './countedContent.ts';
import type { ExportOptions, Place } from './place.ts';
import { RecordCounter } from './recordCounter.ts';
import { repeatable } from './repeatable.ts';

/** What is known of an export file after it was read. */
export interface PlaceInspection extends Omit<Inspection, 'repeated'> {
  /** The size of the file's JSON. */
  readonly bytes: number;
}

/**
 * Reads and validates what a place exports, record by record.
 * @throws IdentityError when it is no valid export file, or does not match its manifest
 */
export async function inspectPlace(
  { name, readExport }: Place,
  options: ExportOptions,
  visitor: RecordVisitor,
  output: ProgressOutput,
  signal: AbortSignal,
): Promise<PlaceInspection> {
  const counter = new RecordCounter(name);
  await using content = await readExport(options, signal);
  const meter = { records: () => counter.records, fraction: () => content.fraction?.() };
  // The content must outlast the phase.
  return await trackPhase(output, `reading ${name}`, meter, async () => {
    await using file = await repeatable(countedContent(content, counter), signal);
    try {
      const { repeated, ...inspection } = await inspect(file, signal, selector(options), unlimited, visitor);
      repeated[Symbol.dispose]();
      return { ...inspection, bytes: counter.bytes };
    } catch (error) {
      const isInvalid = error instanceof IdentityError && error.code === 'INVALID_ARGUMENT';
      throw isInvalid ? sourceInvalid(name, error.message) : error;
    }
  });
}

/** A file is read whole, so its organisations are selected here. */
function selector({ orgIds, excludedOrgIds }: ExportOptions): (orgId: string) => boolean {
  const [selected, excluded] = [new Set(orgIds), new Set(excludedOrgIds)];
  return (orgId) => (selected.size === 0 || selected.has(orgId)) && !excluded.has(orgId);
}
