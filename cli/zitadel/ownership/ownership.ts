// Decides whether an import may send a record, by the owner of its id.

import type { recordIssues } from '../../../shared/errors/recordIssues.ts';

/** The owner of an id in a ZITADEL instance, according to its events. */
export interface IdOwner {
  /** The organisation of the record; the instance for an identity provider of the instance. */
  readonly orgId: string;
  /** The kind of the record, such as `service user`. */
  readonly noun: string;
  /** The aggregate of the record's events. */
  readonly aggregateId: string;
  /** Whether the record exists, was deleted, or was deleted with its organisation. */
  readonly state: 'live' | 'deleted' | 'deletedWithOrganisation';
  /** Another organisation that may refer to the record as if it owned the record. */
  readonly openTo?: string | undefined;
  /** Whether the owner is an earlier record of the file, and the id was free in the target. */
  readonly isOfFile?: true;
}

/** The id of a record of the file. */
export interface ClaimedId {
  readonly orgId: string;
  readonly noun: string;
  /** Whether the id is that of an aggregate with its own events. */
  readonly isAggregate: boolean;
  /** Whether it is the id of a person. */
  readonly isPerson: boolean;
  /** The aggregate of the record's events, if ZITADEL never takes the id of a deleted record of the aggregate again. */
  readonly usedOnceIn?: string;
}

/** How a release behaves. */
export interface ReleaseFacts {
  /** Whether new events of an aggregate get the owner of its first event. */
  readonly writesToFirstOwner: boolean;
}

/** Whether an id is free, belongs to the organisation, or is refused. `conflict` is the reason. */
export type OwnershipDecision =
  | { readonly outcome: 'free' | 'own' }
  | { readonly outcome: 'refused'; readonly conflict: OwnerConflict };

/** The reason why the import does not send a record, and the owner of its id. */
interface OwnerConflict {
  readonly reason: keyof Pick<
    typeof recordIssues,
    'id_repeated' | 'id_taken' | 'id_of_other_kind' | 'id_deleted_elsewhere' | 'id_deleted' | 'id_used'
  >;
  readonly owner: IdOwner;
}

/**
 * Decides whether an import may send a record. ZITADEL itself rejects the ids of other organisations only for people.
 * For other records, it silently adds the new content to the other organisation's record.
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
  // ZITADEL looks up a person by id alone, and does not check whether the organisation is deleted.
  if (owner.state === 'deletedWithOrganisation' && id.isPerson && owner.noun === id.noun) return refused('id_deleted');
  if (isOwn && owner.state === 'deleted' && owner.aggregateId === id.usedOnceIn) return refused('id_used');
  if (!isOwn && id.isAggregate && writesToFirstOwner) return refused('id_deleted_elsewhere');
  return { outcome: 'free' };
}

/** An organisation of the target whose id the file has. */
export interface OrganisationState {
  /** Whether it was deleted and not created again. */
  readonly isDeleted: boolean;
  /** Whether the user of the token was a member when it was deleted. */
  readonly hadCaller: boolean;
}

/**
 * Decides whether ZITADEL rejects an organisation because of the state of its id. Release 4 rejects an organisation
 * only if the token's user was a member.
 */
export function refusesOrganisation(
  { isDeleted, hadCaller }: OrganisationState,
  { writesToFirstOwner }: ReleaseFacts,
): keyof Pick<typeof recordIssues, 'organisation_deleted' | 'organisation_left'> | undefined {
  if (!isDeleted) return undefined;
  if (writesToFirstOwner) return 'organisation_deleted';
  return hadCaller ? 'organisation_left' : undefined;
}

/** Whether a record may refer to a record with this owner as if its own organisation owned that record. */
export function mayReferTo(orgId: string, owner: IdOwner | undefined): boolean {
  return owner === undefined || owner.state !== 'live' || owner.orgId === orgId || owner.openTo === orgId;
}
