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

/** Facts about an export file, after the file was read. */
export interface PlaceInspection extends Inspection {
  /** The size of the file's JSON. */
  readonly bytes: number;
  /** The request of the file's export, from its manifest. */
  readonly request: ExportedRequest;
  /** Content that every export of the place omits. */
  readonly losses: readonly string[];
  /** Warnings about states that ZITADEL did not return, one per organisation. */
  readonly notices: readonly RecordWarning[];
}

/** Options for reading the export of a place. */
interface Reading {
  readonly visitor?: RecordVisitor | undefined;
  /** The name of the phase in the progress. */
  readonly label?: string;
  /** Uses the validated file. The function may read the file again. */
  readonly use?: (file: ExportFile, inspection: Inspection) => Promise<void>;
  /** The organisations that the export must contain. By default, the export may contain any organisations. */
  readonly required?: SelectedOrganisations;
  /**
   * The expected number of records. If the size of the export is unknown, this number determines the remaining time.
   */
  readonly expected?: number | undefined;
}

/**
 * Reads and validates the export of a place, record by record.
 * @throws IdentityError for an invalid export file, and for a manifest that does not match; COMMAND_INTERRUPTED if the
 * signal aborts
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
    // The caller reads the content after this phase. The phase must therefore not dispose of the content.
    const content = resources.use(await readExport(options, signal));
    // Discards the records of an earlier, interrupted reading.
    visitor?.reset();
    // If the place is a file, `readExport` ignores the options and returns all organisations. So this reading selects
    // the organisations.
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
