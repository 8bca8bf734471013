import { hasCode } from '../../shared/errors/identityError.ts';
import { organisationFilter } from '../../shared/exportFile/organisationFilter.ts';
import { type PairedExport, type PairedInspection, readPaired } from '../../shared/exportFile/pairedExports.ts';
import { JsonError } from '../../shared/json/jsonError.ts';
import type { PlaceInspection } from '../exports/inspectPlace.ts';
import type { ExportFile, Place, PlaceExportOptions } from '../exports/placeInterfaces.ts';
import { RecordCounter } from '../exports/recordCounter.ts';
import { meterOf } from '../exports/trackTransfer.ts';
import type { RunDatabase } from '../records/runDatabase.ts';
import { interruptible, isUsageError, NOTHING_CHANGED } from '../terminal/command.ts';
import { type CallContext, trackPhase } from '../terminal/progress.ts';

export interface ComparedSide {
  readonly place: Place;
  readonly options: PlaceExportOptions;
}

export type SideInspection = PairedInspection & Pick<PlaceInspection, 'notices'>;

/**
 * Reads two exports of this service at the same time, and loads only the records that differ. Equal records have the
 * same bytes in both exports, so this function only counts them.
 * @param expected the expected number of records of a side
 * @returns undefined if the caller must read the sides one after the other, because a side is damaged or is not an
 * export of this service. If a side is damaged, the separate readings show which
 */
export async function readTogether(
  database: RunDatabase,
  [first, second]: readonly [ComparedSide, ComparedSide],
  { output, signal }: CallContext,
  expected?: number,
): Promise<readonly [SideInspection, SideInspection] | undefined> {
  return await interruptible(signal, NOTHING_CHANGED, async () => {
    await using resources = new AsyncDisposableStack();
    database.first.reset();
    database.second.reset();
    const open = async ({ place, options }: ComparedSide) => {
      const content = resources.use(await place.readExport(options, signal));
      return { content, counter: new RecordCounter(place.name), isSelected: organisationFilter(options) };
    };
    const sides = [await open(first), await open(second)] as const;
    const exports = [pairedExport(sides[0], database.first), pairedExport(sides[1], database.second)] as const;
    const [firstExport, secondExport] = exports;
    if (firstExport === undefined || secondExport === undefined) return undefined;
    const records = () => Math.max(...sides.map(({ counter }) => counter.records));
    const meter = { ...meterOf(sides[0].content, sides[0].counter, expected), records };
    const label = `comparing ${first.place.name} with ${second.place.name}`;
    try {
      const read = await trackPhase(output, label, meter, () =>
        readPaired([firstExport, secondExport], database, signal),
      );
      const [notices = [], others = []] = sides.map(({ content }) => content.notices);
      return [
        { ...read[0], notices },
        { ...read[1], notices: others },
      ];
    } catch (error) {
      if (error instanceof JsonError || (!isUsageError(error) && hasCode(error, 'INVALID_ARGUMENT'))) return undefined;
      throw error;
    }
  });
}

interface OpenedSide extends Pick<PairedExport, 'isSelected'> {
  readonly content: ExportFile;
  readonly counter: RecordCounter;
}

/** @returns undefined if the content is not an export of this service */
function pairedExport(
  { content: { once }, counter, isSelected }: OpenedSide,
  visitor: PairedExport['visitor'],
): PairedExport | undefined {
  if (once === undefined) return undefined;
  const open = (signal: AbortSignal) => counter.count({ isValidated: true, open: once.open }, signal);
  return { open, onItems: counter.addItems, isSelected, visitor };
}
