import { setTimeout } from 'node:timers/promises';
import type { RecordVisitor } from '../../functions/import/inspect/inspection.ts';
import type { Comparison } from '../compare/comparison.ts';
import { inspectPlace, type PlaceInspection } from '../places/inspectPlace.ts';
import type { ExportOptions, Place } from '../places/place.ts';
import type { MigrationRun } from './run.ts';

/** The most organisations that are named in a request; of more, a place exports all, and the others are skipped here. */
export const MAX_NAMED = 1_000;

/** The first side of a comparison. */
export interface FirstSide {
  readonly place: Place;
  readonly options: ExportOptions;
}

/** Both sides as they were read. */
export interface ReadSides {
  readonly first: PlaceInspection;
  readonly second: PlaceInspection;
}

/** A ZITADEL's exports show what was written up to 2 s before. */
const LAG_MS = 2_000;

/**
 * Compares a side with the same organisations of a target. A lagging target is compared again as long as that finds
 * something else.
 * @param visitors take the records of the first side, beside the comparison
 */
export async function compareSides(
  run: MigrationRun,
  first: FirstSide,
  target: { readonly place: Place; readonly isLagging: boolean },
  comparison: Comparison,
  visitors: readonly RecordVisitor[],
): Promise<ReadSides> {
  const { output, signal } = run;
  const visitor = combine([comparison.first, ...visitors]);
  const read = await inspectPlace(first.place, first.options, visitor, output, signal);
  const orgIds = read.organisations.map(({ orgId }) => orgId);
  const options = {
    ...first.options,
    orgIds: orgIds.length === 0 ? [NO_ORGANISATION] : orgIds,
    excludedOrgIds: [],
  };
  for (let before: string | undefined; ; await setTimeout(LAG_MS, undefined, { signal })) {
    comparison.second.reset();
    const second = await inspectPlace(limitNames(target.place), options, comparison.second, output, signal);
    comparison.finish();
    const found = JSON.stringify([...comparison.counts]);
    if (comparison.isEqual || !target.isLagging || found === before) return { first: read, second };
    before = found;
  }
}

/** No organisation has this id; without one, a place would export all. */
export const NO_ORGANISATION = '-';

function limitNames(place: Place): Place {
  return {
    ...place,
    readExport: (options, signal) =>
      place.readExport(options.orgIds.length <= MAX_NAMED ? options : { ...options, orgIds: [] }, signal),
  };
}

/** Passes records on to several visitors. */
export function combine(visitors: readonly RecordVisitor[]): RecordVisitor {
  return {
    add: (record) => {
      for (const visitor of visitors) visitor.add(record);
    },
    reset: () => {
      for (const visitor of visitors) visitor.reset();
    },
  };
}
