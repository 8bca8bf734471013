import { sectionPartitions } from '../../shared/organisation/section.ts';
import { organisationSection } from '../../shared/organisation/sections.ts';
import type { Snapshot } from '../../shared/store/store.ts';

/** A range of organisation ids, ordered by their UTF-8 bytes: `from` inclusive, `to` exclusive, absent for no bound. */
export interface OrganisationRange {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

/**
 * Divides the organisations into ranges of about equally many.
 * @param count the number of ranges; fewer if there are fewer organisations, but at least one
 */
export async function divideOrganisations(
  snapshot: Snapshot,
  excludedOrgIds: readonly string[],
  count: number,
): Promise<OrganisationRange[]> {
  const excluded = new Set(excludedOrgIds);
  const orgIds: string[] = [];
  const { collection } = organisationSection;
  const partitions = sectionPartitions(organisationSection);
  for await (const batch of snapshot.scan({ collection, partitions, fields: ['orgId'] }))
    for (const { orgId = '' } of batch) if (!excluded.has(orgId)) orgIds.push(orgId);
  const ranges = Math.max(1, Math.min(count, orgIds.length));
  const starts = Array.from({ length: ranges }, (_, index) => orgIds[Math.floor((index * orgIds.length) / ranges)]);
  return starts.map((from, index) => ({ from: index === 0 ? undefined : from, to: starts[index + 1] }));
}
