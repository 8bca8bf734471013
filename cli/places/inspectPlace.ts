import { type Inspection, inspect, type RecordVisitor } from '../../functions/import/inspect/inspection.ts';
import { selectOrganisations } from '../../functions/import/selection.ts';
import { IdentityError } from '../../shared/errors/identityError.ts';
import { sourceInvalid } from '../../shared/errors/placeErrors.ts';
import { InterruptedError } from '../command.ts';
import { type ProgressOutput, trackPhase } from '../progress.ts';
import { repeatable } from './content.ts';
import type { ExportOptions, Place } from './place.ts';
import { countedContent, type ExportedRequest, RecordCounter } from './recordCounter.ts';

/** What is known of an export file after it was read. */
export interface PlaceInspection extends Inspection {
  /** The size of the file's JSON. */
  readonly bytes: number;
  /** What its manifest says of the request for it. */
  readonly request: ExportedRequest;
  /** What the place leaves out of every export. */
  readonly losses: readonly string[];
}

/**
 * Reads and validates what a place exports, record by record.
 * @throws IdentityError when it is no valid export file, or does not match its manifest; InterruptedError when the signal
 * aborts
 */
export async function inspectPlace(
  place: Place,
  options: ExportOptions,
  visitor: RecordVisitor,
  output: ProgressOutput,
  signal: AbortSignal,
): Promise<PlaceInspection> {
  try {
    return await readPlace(place, options, visitor, output, signal);
  } catch (error) {
    throw signal.aborted ? new InterruptedError('interrupted: nothing was changed; repeat the command') : error;
  }
}

async function readPlace(
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
      // A file is read whole, so its organisations are selected here.
      const inspection = await inspect(file, signal, { ...selectOrganisations(options), visitor });
      const { losses = [] } = content;
      return { ...inspection, bytes: counter.bytes, request: counter.request, losses };
    } catch (error) {
      const isInvalid = error instanceof IdentityError && error.code === 'INVALID_ARGUMENT';
      throw isInvalid ? sourceInvalid(name, error.message) : error;
    }
  });
}
