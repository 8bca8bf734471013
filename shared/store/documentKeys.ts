// The keys of documents that authorisation, imports and commands access directly.

import { type DocumentKey, documentId } from './store.ts';

/** Returns the key of a user's membership in the instance. No export contains these memberships. */
export function instanceMemberKey(userId: string): DocumentKey {
  return { collection: 'members', id: documentId('instance', userId) };
}

/** Returns the key of a user's membership in an organisation, which is a record of the section `orgMembers`. */
export function organisationMemberKey(orgId: string, userId: string): DocumentKey {
  return { collection: 'members', id: documentId('organisation', orgId, userId) };
}

export function organisationKey(orgId: string): DocumentKey {
  return { collection: 'organisations', id: documentId(orgId) };
}

/** Returns the key of a person or a service user. */
export function userKey(userId: string): DocumentKey {
  return { collection: 'users', id: documentId(userId) };
}
