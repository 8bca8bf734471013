import type { Deletion } from '../../../functions/import/contract.ts';
import type { Counts } from '../../../shared/collections/counts.ts';
import {
  deletionGroup,
  deletionGroups,
  deletionOf,
  describeContent,
} from '../../../shared/organisation/describedRecord.ts';
import { MAX_LISTED_ISSUES } from '../../../shared/organisation/recordErrors.ts';
import type { DoomedRecord } from './doomedRecords.ts';
import type { InstanceMember } from './instanceOwners.ts';

export interface ReportedDeletions {
  readonly counts: Readonly<Counts>;
  /** The deleted records, up to a maximum number, in the order of `deletionGroups`. */
  readonly listed: readonly Deletion[];
  readonly omitted: number;
}

/**
 * @param roles the deleted users who had roles in the instance, with the organisation of each user. ZITADEL deleted
 * their roles too
 */
export function reportDeletions(
  records: readonly DoomedRecord[],
  roles: readonly (InstanceMember & { readonly orgId: string })[],
): ReportedDeletions {
  const counts: Counts = {};
  for (const { section } of records) counts[section.name] = (counts[section.name] ?? 0) + 1;
  if (roles.length > 0) counts.instanceMembers = roles.length;
  const byGroup = Map.groupBy(records, ({ section: { collection } }) => deletionGroup(collection));
  const along = roles.map(({ userId, orgId, roles: memberRoles }) => ({
    type: 'instance_member',
    orgId,
    id: userId,
    roles: [...memberRoles],
  }));
  const deletions = deletionGroups.flatMap((group) =>
    group === 'along'
      ? along
      : (byGroup.get(group) ?? []).map(({ section, json, orgId }) => deletionOf(describeContent(section, json, orgId))),
  );
  const listed = deletions.slice(0, MAX_LISTED_ISSUES);
  return { counts, listed, omitted: deletions.length - listed.length };
}
