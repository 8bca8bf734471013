// Reads and validates the export of a place.

import { hasCode } from '../../shared/errors/identityError.ts';
import type { RecordWarning } from '../../shared/errors/warnings.ts';
import { type Inspection, inspect, type RecordVisitor } from '../../shared/exportFile/inspection.ts';
import { organisationFilter } from '../../shared/exportFile/organisationFilter.ts';
import { rejection } from '../http/serverErrors.ts';
import { interruptible, isUsageError, NOTHING_CHANGED } from '../terminal/command.ts';
import { type CallContext, trackPhase } from '../terminal/progress.ts';
import { makeRepeatable, notIntact } from './fileContent.ts';
import type { ExportFile, Place, PlaceExportOptions } from './placeInterfaces.ts';
import { type ExportedRequest, RecordCounter, type SelectedOrganisations } from './recordCounter.ts';
import { countedContent, meterOf } from './trackTransfer.ts';

/** The facts about an export file that was read. */
export interface PlaceInspection extends Inspection {
  /** The size of the file's JSON. */
  readonly bytes: number;
  /** The request for the file, as its manifest describes it. */
  readonly request: ExportedRequest;
  /** The content that every export of the place omits. */
  readonly losses: readonly string[];
  /** The states that ZITADEL did not return: a warning for each organisation. */
  readonly notices: readonly RecordWarning[];
}

/** Options for reading the export of a place. */
interface Reading {
  readonly visitor?: RecordVisitor | undefined;
  /** The name of the phase in the progress. */
  readonly label?: string;
  /** Uses the validated file, which can be read again. */
  readonly use?: (file: ExportFile, inspection: Inspection) => Promise<void>;
  /** The organisations that the export must contain; by default any. */
  readonly required?: SelectedOrganisations;
  /** The expected number of records of the place, for the remaining time of an export. */
  readonly expected?: number | undefined;
}

/**
 * Reads and validates the export of a place, record by record.
 * @throws IdentityError for an invalid export file or a manifest mismatch; COMMAND_INTERRUPTED when the signal aborts
 */
export function inspectPlace(
  { name, readExport }: Place,
  options: PlaceExportOptions,
  { output, signal }: CallContext,
  { visitor, label = `reading ${name}`, use, expected, required }: Reading = {},
): Promise<PlaceInspection> {
  return interruptible(signal, NOTHING_CHANGED, async () => {
    await using resources = new AsyncDisposableStack();
    const counter = new RecordCounter(name, required);
    // The caller reads the content after this phase, so the phase must not dispose of it.
    const content = resources.use(await readExport(options, signal));
    // The records of an interrupted reading are not used.
    visitor?.reset();
    // Selects the organisations here, because a file always contains all of its organisations.
    const reading = { isSelected: organisationFilter(options), visitor };
    const once = use === undefined ? content.once : undefined;
    const { file, inspection } = await trackPhase(output, label, meterOf(content, counter, expected), async () => {
      try {
        if (once !== undefined) {
          const open = () => counter.count({ isValidated: true, open: once.open }, signal);
          const oneReading = { ...reading, isOnce: true, onItems: counter.addItems };
          return { file: undefined, inspection: await inspect({ open }, signal, oneReading) };
        }
        const file = resources.use(await makeRepeatable(countedContent(content, counter), signal));
        return { file, inspection: await inspect(file, signal, reading) };
      } catch (error) {
        const isDamaged = !isUsageError(error) && hasCode(error, 'INVALID_ARGUMENT');
        const found = isDamaged ? (once?.damaged?.(error.message) ?? notIntact(name, rejection(error))) : error;
        throw signal.aborted ? error : ((await content.deleteAfter?.(found)) ?? found);
      }
    });
    if (file !== undefined) await use?.(file, inspection);
    const { losses = [], notices = [] } = content;
    return { ...inspection, bytes: counter.bytes, request: counter.request, losses, notices };
  });
}
