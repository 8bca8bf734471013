// Compares two places. Repeats the comparison if one of them is ZITADEL, because an export of ZITADEL can lack the
// latest writes.

import { setTimeout } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { NO_ORGANISATION } from '../../functions/export/contract.ts';
import { total } from '../../shared/collections/counts.ts';
import type { Inspection, RecordVisitor } from '../../shared/exportFile/inspection.ts';
import { nothingStated, type StatedContent } from '../../shared/organisation/statedContent.ts';
import { allReleases } from '../../shared/organisation/zitadelReleases.ts';
import { inspectPlace, type PlaceInspection } from '../exports/inspectPlace.ts';
import type { Place, PlaceExportOptions, PlaceFacts } from '../exports/placeInterfaces.ts';
import { meterOfRecords } from '../exports/trackTransfer.ts';
import type { ImportFacts } from '../records/importFacts.ts';
import type { ComparedSides, Explain, RunDatabase } from '../records/runDatabase.ts';
import { type CallContext, trackPhase } from '../terminal/progress.ts';
import { LAG_MS, type ZitadelSide, zitadelReason } from '../zitadel/expectedDifferences.ts';
import { type ComparedSide, readTogether, type SideInspection } from './readTogether.ts';

interface Comparing {
  readonly database: RunDatabase;
  readonly maxListed: number;
  readonly explain: Explain;
  readonly first: ComparedSide & {
    readonly earlier?: SideInspection;
  };
  /** The options of this side's export may depend on the content of the first side. */
  readonly second: {
    readonly place: Place;
    readonly options: (first: Pick<Inspection, 'organisations'>) => PlaceExportOptions;
  };
  /** True if the first side is ZITADEL. If absent, `lagging[0]` decides. */
  readonly isFirstZitadel?: boolean;
  /**
   * For each side, true if the side's exports may lack the latest writes for a moment, as ZITADEL's exports do. Absent
   * if no side's exports may.
   */
  readonly lagging?: readonly [first: boolean, second: boolean];
}

/**
 * Reads and compares two sides. If the exports of a side may lack the latest writes, repeats the comparison until both
 * sides are equal or the result no longer changes.
 * @throws IdentityError if a place cannot be read; the signal's reason after an abort
 */
export async function compareSides(
  comparing: Comparing,
  context: CallContext,
): Promise<{
  readonly compared: ComparedSides;
  readonly read: readonly [first: SideInspection, second: SideInspection];
}> {
  const { database, maxListed, explain, first, second, lagging = [false, false] } = comparing;
  const [isFirstLagging] = lagging;
  const { isFirstZitadel = isFirstLagging } = comparing;
  const together = isFirstZitadel || lagging.includes(true) ? undefined : await readBoth(comparing, context);
  if (together !== undefined) {
    database.stated = together[0].stated;
    const compared = await trackComparison(database, recordsOf(together[0]), { maxListed, explain }, context);
    return { compared, read: together };
  }
  const readSide = (place: Place, options: PlaceExportOptions, visitor: RecordVisitor, expected?: number) =>
    inspectPlace(place, options, context, { visitor, label: `comparing ${place.name}`, expected });
  let read: PlaceInspection | undefined;
  let before: string | undefined;
  for (;;) {
    if (read === undefined || isFirstLagging) {
      database.first.reset();
      read = await readSide(first.place, first.options, database.first, first.earlier && recordsOf(first.earlier));
      database.stated = isFirstZitadel ? statedByZitadel(first.options) : read.stated;
    }
    database.second.reset();
    const records = recordsOf(read);
    const secondRead = await readSide(second.place, second.options(read), database.second, records);
    const compared = await trackComparison(database, records, { maxListed, explain }, context);
    const countsText = JSON.stringify([...compared.counts]);
    if (compared.isEqual || !lagging.includes(true) || countsText === before)
      return { compared, read: [read, secondRead] };
    before = countsText;
    await setTimeout(LAG_MS, undefined, { signal: context.signal });
  }
}

/**
 * Reads both sides at the same time.
 * @returns undefined if the caller must read one side after the other
 */
async function readBoth({ database, first, second }: Comparing, context: CallContext) {
  if (first.place.takes === 'files' || second.place.takes === 'files') return undefined;
  const { earlier } = first;
  const options = second.options(earlier ?? { organisations: [] });
  const sides = [first, { place: second.place, options }] as const;
  const read = await readTogether(database, sides, context, earlier && recordsOf(earlier));
  // The options of the second side depend on the first side. If the first side has changed since the earlier reading,
  // the second side was read with outdated options.
  return read !== undefined && isDeepStrictEqual(second.options(read[0]), options) ? read : undefined;
}

/** @param expected the number of records of the larger side */
export function trackComparison(
  database: RunDatabase,
  expected: number,
  { maxListed, explain }: Pick<Comparing, 'maxListed' | 'explain'>,
  context: CallContext,
): Promise<ComparedSides> {
  let records = 0;
  const onCompared = (compared: number) => {
    records += compared;
  };
  const meter = meterOfRecords(() => ({ records, total: expected }));
  return trackPhase(context.output, 'comparing both places', meter, () =>
    database.compare(context.signal, maxListed, explain, onCompared),
  );
}

export function recordsOf({ tally: { counts } }: Pick<PlaceInspection, 'tally'>): number {
  return total(counts);
}

/**
 * Returns the kinds of secrets that ZITADEL's exports contain completely. If an export lacks such a secret, ZITADEL
 * does not have the secret. Omits OTP e-mail factors and states, because every record in ZITADEL's exports contains
 * them anyway.
 */
function statedByZitadel({ withPasswords, withOtp }: PlaceExportOptions): StatedContent {
  return { ...nothingStated, withPasswords, withOtp };
}

/**
 * The maximum number of organisations that a request selects. If the comparison needs more organisations, it requests
 * all organisations of the place and skips the others.
 */
const MAX_REQUESTED_ORGANISATIONS = 1_000;

/**
 * Limits a side of a comparison to the organisations of the other side.
 * @param place the side to limit, which is not a file
 * @param options the options of the other side's export
 */
export function onlyOrganisationsOf(
  place: Place,
  options: PlaceExportOptions,
): { readonly place: Place; readonly options: (otherSide: Pick<Inspection, 'organisations'>) => PlaceExportOptions } {
  return {
    options: ({ organisations }) => {
      const orgIds = organisations.length === 0 ? [NO_ORGANISATION] : organisations.map(({ orgId }) => orgId);
      return { ...options, orgIds, excludedOrgIds: [] };
    },
    place: {
      ...place,
      readExport: (named, signal) =>
        place.readExport(named.orgIds.length <= MAX_REQUESTED_ORGANISATIONS ? named : { ...named, orgIds: [] }, signal),
    },
  };
}

/**
 * Returns a function that explains the differences that ZITADEL causes.
 * @param facts the facts about each side; undefined for a side that is a file or an object
 * @param imports if the second side is ZITADEL: facts about how it imports the first side's records
 */
export function explainZitadels(
  facts: readonly [first: PlaceFacts | undefined, second: PlaceFacts | undefined],
  imports: ImportFacts,
): Explain {
  const zitadels = facts.flatMap((sideFacts, index): ZitadelSide[] => {
    if (sideFacts?.service !== 'zitadel') return [];
    const { domains = [], releases = allReleases } = sideFacts;
    return [index === 0 ? { side: 'first', releases, domains } : { side: 'second', releases, domains, imports }];
  });
  // If both sides are ZITADEL, the second side is the target of an import, which has changed records in the target. So
  // the reasons of the target come first.
  return (difference, first) =>
    zitadels
      .toReversed()
      .map((zitadel) => zitadelReason(difference, zitadel, first))
      .find((reason) => reason !== undefined);
}
