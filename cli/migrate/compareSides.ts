import { setTimeout } from 'node:timers/promises';
import type { RecordVisitor } from '../../functions/import/inspect/inspection.ts';
import { textAt } from '../../shared/json/jsonObject.ts';
import type { OrganisationRecord } from '../../shared/organisation/record.ts';
import { humanUserSection } from '../../shared/organisation/sections/users.ts';
import { organisationSection } from '../../shared/organisation/sections.ts';
import type { Comparison } from '../compare/comparison.ts';
import { inspectPlace, type PlaceInspection } from '../places/inspectPlace.ts';
import type { ExportOptions, Place } from '../places/place.ts';
import type { MigrationPlan, OrganisationCounts } from './documents.ts';
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

/** Bounds the organisations that a plan or a result lists. */
const MAX_LISTED = 1_000;

type Described = Omit<MigrationPlan['organisations'][number], 'before'>;

/** Names and sizes of the organisations that move, collected while they are read. */
export class OrganisationTally implements RecordVisitor {
  private readonly organisations = new Map<string, { name: string; people: number; records: number }>();

  add({ section, orgId, json }: OrganisationRecord): void {
    const known = this.organisations.get(orgId) ?? { name: orgId, people: 0, records: 0 };
    known.records++;
    if (section === humanUserSection) known.people++;
    if (section === organisationSection) known.name = textAt(json, 'org.name', orgId);
    this.organisations.set(orgId, known);
  }

  reset(): void {
    this.organisations.clear();
  }

  get orgIds(): readonly string[] {
    return [...this.organisations.keys()];
  }

  /** The first organisations. */
  get listed(): readonly Described[] {
    return [...this.organisations].slice(0, MAX_LISTED).map(([orgId, facts]) => ({ orgId, ...facts }));
  }

  /** The number of further ones. */
  get omitted(): number {
    return Math.max(0, this.organisations.size - MAX_LISTED);
  }
}

/** Returns how an organisation's records on both sides stand to each other. */
export function organisationCounts({ organisations }: Comparison, orgId: string): OrganisationCounts {
  const { equal = 0, different = 0, onlyFirst = 0, onlySecond = 0 } = organisations.get(orgId) ?? {};
  return { absent: onlyFirst, equal, different, onlyTarget: onlySecond };
}
