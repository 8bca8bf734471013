import type { StoreLocation } from '../../../shared/store/openStore.ts';

/** Returns the text of a database as a place. */
export function placeOfLocation(location: StoreLocation): string {
  if (location.kind === 'sqlite') return `sqlite:${location.directory}`;
  return `firestore:${location.projectId}/${location.databaseId}`;
}

/** Returns the options for a database in commands on instances. */
export function databaseOptions(location: StoreLocation): readonly string[] {
  if (location.kind === 'sqlite') return ['--data', location.directory];
  return ['--firestore', `${location.projectId}/${location.databaseId}`];
}
