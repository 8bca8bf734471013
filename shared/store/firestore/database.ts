import type { DocumentKey } from '../store.ts';

/** Which database of Cloud Firestore: `databaseId` is `(default)` for the one that needs no name. */
export interface DatabaseAddress {
  readonly projectId: string;
  readonly databaseId: string;
}

/** A database's path, `projects/…/databases/…`. */
export function databasePath({ projectId, databaseId }: DatabaseAddress): string {
  return `projects/${projectId}/databases/${databaseId}`;
}

/** The parent of all collections. */
export function documentsPath(address: DatabaseAddress): string {
  return `${databasePath(address)}/documents`;
}

/** A document's full name. */
export function documentName(address: DatabaseAddress, { collection, id }: DocumentKey): string {
  return `${documentsPath(address)}/${collection}/${id}`;
}
