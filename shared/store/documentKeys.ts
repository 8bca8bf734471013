import { type DocumentKey, documentId } from './store.ts';

/** No export contains memberships in the instance. */
export function instanceMemberKey(userId: string): DocumentKey {
  return { collection: 'members', id: documentId('instance', userId) };
}

/** A membership in an organisation is a record of the section `orgMembers`. */
export function organisationMemberKey(orgId: string, userId: string): DocumentKey {
  return { collection: 'members', id: documentId('organisation', orgId, userId) };
}

export function organisationKey(orgId: string): DocumentKey {
  return { collection: 'organisations', id: documentId(orgId) };
}

export function userKey(userId: string): DocumentKey {
  return { collection: 'users', id: documentId(userId) };
}
