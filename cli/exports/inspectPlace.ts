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

/** Facts about an export file, known after the whole file was read. */
export interface PlaceInspection extends Inspection {
  /** The size of the file's decompressed JSON. */
  readonly bytes: number;
  readonly request: ExportedRequest;
  readonly losses: readonly string[];
  readonly notices: readonly RecordWarning[];
}

interface Reading {
  readonly visitor?: RecordVisitor | undefined;
  /** The name of the phase in the progress output. */
  readonly label?: string;
  /** Called with the validated file. May read the file again. */
  readonly use?: (file: ExportFile, inspection: Inspection) => Promise<void>;
  /** The organisations that the export must contain. */
  readonly required?: SelectedOrganisations;
  /**
   * The expected number of records. If the size of the export is unknown, the progress estimates the remaining time
   * from this number.
   */
  readonly expected?: number | undefined;
}

/**
 * @throws IdentityError if the export file is invalid or does not match its manifest, and COMMAND_INTERRUPTED if the
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
    // `use` may read the content after `trackPhase` has returned. So the content is disposed of only at the end of this
    // function.
    const content = resources.use(await readExport(options, signal));
    // An interrupted attempt may have passed records to the visitor. `reset` discards them.
    visitor?.reset();
    // A place that is a file ignores the options of `readExport`, and returns all its organisations. So `isSelected`
    // selects the organisations during the reading.
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
        const reportedError = isDamaged ? (once?.damaged?.(error.message) ?? notIntact(name, rejection(error))) : error;
        throw signal.aborted ? error : ((await content.deleteAfter?.(reportedError)) ?? reportedError);
      }
    });
    if (file !== undefined) await use?.(file, inspection);
    const { losses = [], notices = [] } = content;
    return { ...inspection, bytes: counter.bytes, request: counter.request, losses, notices };
  });
}
