import { type DocumentKey, documentId } from './store.ts';

/** Returns the key of a membership in the instance. No export contains such memberships. */
export function instanceMemberKey(userId: string): DocumentKey {
  return { collection: 'members', id: documentId('instance', userId) };
}

/** Returns the key of a membership in an organisation, which is a record of the section `orgMembers`. */
export function organisationMemberKey(orgId: string, userId: string): DocumentKey {
  return { collection: 'members', id: documentId('organisation', orgId, userId) };
}

export function organisationKey(orgId: string): DocumentKey {
  return { collection: 'organisations', id: documentId(orgId) };
}

export function userKey(userId: string): DocumentKey {
  return { collection: 'users', id: documentId(userId) };
}
