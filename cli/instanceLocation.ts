import { basename, resolve } from 'node:path';
import type { StoreLocation } from '../shared/store/openStore.ts';
import { type Option, UsageError } from './command.ts';

/** The options that name an instance, in every command on one. */
export const instanceOptions = [
  { name: 'data', value: 'DIR', meaning: 'the directory of a self-hosted instance' },
  { name: 'firestore', value: 'PROJECT[/DATABASE]', meaning: 'the Firestore database of a cloud-hosted instance' },
] as const satisfies readonly Option[];

/** The location of an instance's database, and the instance's default name. */
interface InstanceLocation {
  readonly store: StoreLocation;
  readonly defaultName: string;
  /** The environment variables for the same location. */
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/**
 * Reads the mutually exclusive options `--data DIR` and `--firestore PROJECT[/DATABASE]`.
 * @param masterKey the text of `IDENTITY_MASTER_KEY`
 * @throws UsageError unless exactly one is set, to a valid value
 */
export function instanceLocation(
  data: string | undefined,
  firestore: string | undefined,
  masterKey: string | undefined,
): InstanceLocation {
  if ((data === undefined) === (firestore === undefined))
    throw new UsageError('specify either --data DIR (self-hosted) or --firestore PROJECT[/DATABASE]');
  return data === undefined ? cloudHosted(firestore ?? '', masterKey) : selfHosted(data, masterKey);
}

function cloudHosted(firestore: string, masterKey: string | undefined): InstanceLocation {
  const [projectId = '', databaseId = '(default)'] = firestore.split('/');
  const defaultName = databaseId === '(default)' ? projectId : databaseId;
  const environment = { DATA_DIR: undefined, FIRESTORE_PROJECT: projectId, FIRESTORE_DATABASE: databaseId };
  return { store: { kind: 'firestore', projectId, databaseId, masterKey }, defaultName, environment };
}

function selfHosted(data: string, masterKey: string | undefined): InstanceLocation {
  const directory = resolve(data);
  const environment = { DATA_DIR: directory, FIRESTORE_PROJECT: undefined, FIRESTORE_DATABASE: undefined };
  return { store: { kind: 'sqlite', directory, masterKey }, defaultName: basename(directory), environment };
}
