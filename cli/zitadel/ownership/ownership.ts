// Decides whether an import may send a record, by the owner of its id.

import type { recordIssues } from '../../../shared/errors/recordIssues.ts';

/** The owner of an id in a ZITADEL instance, according to its events. */
export interface IdOwner {
  /** The id of the record's organisation; the instance's id for an identity provider of the instance. */
  readonly orgId: string;
  /** The kind of the record, such as `service user`. */
  readonly noun: string;
  /** The aggregate of the record's events. */
  readonly aggregateId: string;
  /** Whether the record exists, was deleted, or was deleted with its organisation. */
  readonly state: 'live' | 'deleted' | 'deletedWithOrganisation';
  /** Another organisation that may refer to the record as if that organisation owned it. */
  readonly openTo?: string | undefined;
  /** Whether the owner is an earlier record of the file, and the id was free in the target. */
  readonly isOfFile?: true;
}

/** The id of a record of the file. */
export interface ClaimedId {
  readonly orgId: string;
  readonly noun: string;
  /** Whether the record is an aggregate, with events of its own. */
  readonly isAggregate: boolean;
  /** Whether the record is a person. */
  readonly isPerson: boolean;
  /** The aggregate in which ZITADEL rejects the id if an earlier record with the id was deleted there. */
  readonly usedOnceIn?: string;
}

/** How the target's release behaves. */
export interface ReleaseFacts {
  /** Whether ZITADEL assigns a new event of an aggregate to the organisation of the aggregate's first event. */
  readonly writesToFirstOwner: boolean;
}

/** Whether an id is free, belongs to the organisation, or is refused. `conflict` contains the reason. */
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
 * Decides whether an import may send a record. ZITADEL itself rejects another organisation's id only for people. For
 * other kinds, ZITADEL silently adds the new content to the other organisation's record.
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

/** An organisation of the file that exists or existed in the target. */
export interface OrganisationState {
  /** Whether the organisation was deleted and not created again. */
  readonly isDeleted: boolean;
  /** Whether the user of the token was a member of the organisation when it was deleted. */
  readonly hadCaller: boolean;
}

/**
 * Returns the reason if ZITADEL rejects the import of an organisation because it was deleted. Release 4 rejects it only
 * if the token's user was a member.
 */
export function refusesOrganisation(
  { isDeleted, hadCaller }: OrganisationState,
  { writesToFirstOwner }: ReleaseFacts,
): keyof Pick<typeof recordIssues, 'organisation_deleted' | 'organisation_left'> | undefined {
  if (!isDeleted) return undefined;
  if (writesToFirstOwner) return 'organisation_deleted';
  return hadCaller ? 'organisation_left' : undefined;
}

/** Whether the records of an organisation may refer to a record with this owner as if the organisation owned it. */
export function mayReferTo(orgId: string, owner: IdOwner | undefined): boolean {
  return owner === undefined || owner.state !== 'live' || owner.orgId === orgId || owner.openTo === orgId;
}
