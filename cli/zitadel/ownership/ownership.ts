import type { recordIssues } from '../../../shared/errors/recordIssues.ts';

/** The record that has or had an id in a ZITADEL instance, according to events. */
export interface IdOwner {
  /**
   * The id of the organisation to which the record belongs. For an identity provider of the instance, the id of the
   * instance.
   */
  readonly orgId: string;
  /** The noun for the record, such as `service user`. */
  readonly noun: string;
  readonly aggregateId: string;
  readonly state: 'live' | 'deleted' | 'deletedWithOrganisation';
  /** The id of another organisation whose records may refer to this record. */
  readonly openTo?: string | undefined;
  /** Present if no record in ZITADEL has the id, but an earlier record of the file uses it. */
  readonly isOfFile?: true;
}

export interface ClaimedId {
  readonly orgId: string;
  readonly noun: string;
  /** Whether the record is an aggregate, so that it has events of its own. */
  readonly isAggregate: boolean;
  /**
   * The id of the aggregate in which ZITADEL never accepts the record's id a second time. Present if an earlier record
   * with this id was deleted.
   */
  readonly usedOnceIn?: string;
}

export interface ReleaseFacts {
  /**
   * Whether ZITADEL writes a new event of an aggregate into the organisation that owned the aggregate's first event.
   */
  readonly writesToFirstOwner: boolean;
}

export type OwnershipDecision =
  | { readonly outcome: 'free' | 'own' }
  | { readonly outcome: 'refused'; readonly conflict: OwnerConflict };

interface OwnerConflict {
  readonly reason: keyof Pick<
    typeof recordIssues,
    'id_repeated' | 'id_taken' | 'id_of_other_kind' | 'id_deleted_elsewhere' | 'id_deleted' | 'id_used'
  >;
  readonly owner: IdOwner;
}

/**
 * Decides whether an import may send a record with the given id. The decision is necessary because ZITADEL itself
 * rejects an id of another organisation only for people. For any other record, ZITADEL reports no error, and adds the
 * new content to the record of the other organisation.
 * @param owner the record that has or had the id; undefined if no record ever had it
 */
export function decideOwnership(
  id: ClaimedId,
  owner: IdOwner | undefined,
  { writesToFirstOwner }: ReleaseFacts,
): OwnershipDecision {
  if (owner === undefined) return { outcome: 'free' };
  const refused = (reason: OwnerConflict['reason']): OwnershipDecision => ({
    outcome: 'refused',
    conflict: { reason, owner },
  });
  const isOwn = owner.orgId === id.orgId;
  if (owner.isOfFile === true && !(isOwn && owner.noun === id.noun)) return refused('id_repeated');
  if (owner.state === 'live') {
    if (!isOwn) return refused('id_taken');
    return owner.noun === id.noun ? { outcome: 'own' } : refused('id_of_other_kind');
  }
  // If an organisation is deleted, ZITADEL adds no event to the aggregates of its records, and does not release the
  // names of their parts. So ZITADEL refuses a new record with the id or parts of that record, or stores the record
  // where it is not visible.
  if (owner.state === 'deletedWithOrganisation' && id.isAggregate) return refused('id_deleted');
  if (isOwn && owner.state === 'deleted' && owner.aggregateId === id.usedOnceIn) return refused('id_used');
  if (!isOwn && id.isAggregate && writesToFirstOwner) return refused('id_deleted_elsewhere');
  return { outcome: 'free' };
}

/** True if records of an organisation may refer to a record with the given owner. */
export function mayReferTo(orgId: string, owner: IdOwner | undefined): boolean {
  return owner === undefined || owner.state !== 'live' || owner.orgId === orgId || owner.openTo === orgId;
}
