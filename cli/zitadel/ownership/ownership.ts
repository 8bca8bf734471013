// The decision whether an import may send a record, by the owner of its id.

import type { recordIssues } from '../../../shared/errors/recordIssues.ts';

/** The owner of an id in a ZITADEL instance, by its events. */
export interface IdOwner {
  /** The organisation of the record; the instance for a provider of the instance. */
  readonly orgId: string;
  /** The kind of the record, such as `service user`. */
  readonly noun: string;
  /** Whether the record exists, was deleted, or was deleted with its organisation. */
  readonly state: 'live' | 'deleted' | 'deletedWithOrganisation';
  /** An organisation that may refer to the record as to its own. */
  readonly openTo?: string | undefined;
  /** Whether an earlier record of the file gets the id, which was free in the target. */
  readonly isOfFile?: true;
}

/** The id of a record of the file. */
export interface ClaimedId {
  readonly orgId: string;
  readonly noun: string;
  /** Whether the id is that of an aggregate, which has events of its own. */
  readonly isAggregate: boolean;
  /** Whether it is the id of a person. */
  readonly isPerson: boolean;
}

/** Facts about the behaviour of a release. */
export interface ReleaseFacts {
  /** Whether new events of an aggregate get the owner of its first event: 2.71, and 3 until it was seen otherwise. */
  readonly writesToFirstOwner: boolean;
}

/** Whether an id is free, the organisation's own, or refused; `conflict` is the reason. */
export type OwnershipDecision =
  | { readonly outcome: 'free' | 'own' }
  | { readonly outcome: 'refused'; readonly conflict: OwnerConflict };

/** The reason for which a record is not sent, and the owner of its id. */
interface OwnerConflict {
  readonly reason: keyof Pick<
    typeof recordIssues,
    'id_repeated' | 'id_taken' | 'id_of_other_kind' | 'id_deleted_elsewhere' | 'id_deleted'
  >;
  readonly owner: IdOwner;
}

/**
 * Decides whether an import may send a record. ZITADEL itself compares ids across organisations for people only: it
 * appends other records to those of the owner, without an error.
 * @param owner the owner of the id; undefined if no record ever had it
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
  // ZITADEL looks a person up by the id alone, and does not see that the organisation is deleted.
  if (owner.state === 'deletedWithOrganisation' && id.isPerson && owner.noun === id.noun) return refused('id_deleted');
  if (!isOwn && id.isAggregate && writesToFirstOwner) return refused('id_deleted_elsewhere');
  return { outcome: 'free' };
}

/** An organisation of the target whose id the file has. */
export interface OrganisationState {
  /** Whether it was deleted, and not created again. */
  readonly isDeleted: boolean;
  /** Whether the user of the token was a member when it was deleted. */
  readonly hadCaller: boolean;
}

/** Decides whether a ZITADEL refuses an organisation for the state of its id. Release 4 refuses former members only. */
export function refusesOrganisation(
  { isDeleted, hadCaller }: OrganisationState,
  { writesToFirstOwner }: ReleaseFacts,
): keyof Pick<typeof recordIssues, 'organisation_deleted' | 'organisation_left'> | undefined {
  if (!isDeleted) return undefined;
  if (writesToFirstOwner) return 'organisation_deleted';
  return hadCaller ? 'organisation_left' : undefined;
}

/** Whether a record may refer to another record as to its organisation's own, by the owner of the other record. */
export function mayReferTo(orgId: string, owner: IdOwner | undefined): boolean {
  return owner === undefined || owner.state !== 'live' || owner.orgId === orgId || owner.openTo === orgId;
}
