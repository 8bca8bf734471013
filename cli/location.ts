import { basename, resolve } from 'node:path';
import type { StoreLocation } from '../shared/store/openStore.ts';
import { UsageError } from './command.ts';

/** Where an instance's database is, and the name that the instance gets where none is given. */
export interface InstanceLocation {
  readonly store: StoreLocation;
  readonly defaultName: string;
  /** The environment variables that say the same. */
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** Reads `--data DIR` or `--firestore PROJECT[/DATABASE]`, of which exactly one is to be given. */
export function instanceLocation(data: string | undefined, firestore: string | undefined): InstanceLocation {
  if ((data === undefined) === (firestore === undefined)) {
    throw new UsageError('specify either --data DIR (self-hosted) or --firestore PROJECT[/DATABASE]');
  }
  if (data !== undefined) return embedded(data);
  const [, projectId, databaseId = '(default)'] = /^([^/]+)(?:\/([^/]+))?$/.exec(firestore ?? '') ?? [];
  if (projectId === undefined)
    throw new UsageError(`invalid --firestore ${firestore}: specify PROJECT or PROJECT/DATABASE`);
  const defaultName = databaseId === '(default)' ? projectId : databaseId;
  const environment = { DATA_DIR: undefined, FIRESTORE_PROJECT: projectId, FIRESTORE_DATABASE: databaseId };
  return { store: { kind: 'firestore', projectId, databaseId }, defaultName, environment };
}

function embedded(data: string): InstanceLocation {
  if (data === '') throw new UsageError('empty --data: specify a directory');
  const directory = resolve(data);
  const environment = { DATA_DIR: directory, FIRESTORE_PROJECT: undefined, FIRESTORE_DATABASE: undefined };
  return { store: { kind: 'sqlite', directory }, defaultName: basename(directory), environment };
}
