import { documentId } from '../store/documentId.ts';
import type { DocumentKey } from '../store/store.ts';

/** Where a user's roles on the instance are stored. They are not part of any organisation, so no export has them. */
export function instanceMemberKey(userId: string): DocumentKey {
  return { collection: 'members', id: documentId('instance', userId) };
}

/** Where a user's roles on an organisation are stored: a record of the section `orgMembers`. */
export function organisationMemberKey(orgId: string, userId: string): DocumentKey {
  return { collection: 'members', id: documentId('organisation', orgId, userId) };
}

/** Where a user, person or service user, is stored. */
export function userKey(userId: string): DocumentKey {
  return { collection: 'users', id: documentId(userId) };
}
