import type { Counts } from '../../shared/collections/counts.ts';
import { organisationSection } from '../../shared/organisation/allSections.ts';
import type { RunDatabase } from '../records/runDatabase.ts';
import type { OrganisationCounts } from './migrationTypes.ts';

export const noCounts: OrganisationCounts = {
  absent: 0,
  equal: 0,
  different: 0,
  differentAsExpected: 0,
  onlyTarget: 0,
};

/**
 * Converts the counts of a comparison of two sides to the counts of a migration, in which the second side is the
 * target.
 */
export function recordCounts({ onlyFirst: absent = 0, onlySecond: onlyTarget = 0, ...inBoth }: Counts = {}) {
  return { ...noCounts, ...inBoth, absent, onlyTarget };
}

/** Returns the ids of organisations that both sides have. The second side of the database must be the target. */
export async function presentOrganisations(database: RunDatabase, signal: AbortSignal): Promise<ReadonlySet<string>> {
  const present = new Set<string>();
  for await (const { orgId, outcome } of database.pairs(signal, [organisationSection.name]))
    if (outcome !== 'onlyFirst') present.add(orgId);
  return present;
}
