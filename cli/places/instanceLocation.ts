import { basename, resolve } from 'node:path';
import { shellWord } from '../../shared/shellWord.ts';
import type { StoreLocation } from '../../shared/store/openStore.ts';
import { optional, type Surroundings, usageError } from '../terminal/command.ts';

export const instanceOptions = {
  data: optional('DIR', 'the directory of a self-hosted instance', 'Instance (one of)'),
  firestore: optional('PROJECT[/DATABASE]', 'the database of a cloud-hosted instance', 'Instance (one of)'),
};

interface InstanceLocation {
  readonly location: StoreLocation;
  readonly defaultName: string;
  /** The environment variables of the process, changed so that they select the database of this location. */
  readonly environment: Surroundings['environment'];
}

/**
 * Returns the database that `--data DIR` or `--firestore PROJECT[/DATABASE]` selects.
 * @throws IdentityError USAGE_INVALID unless exactly one of these options is set, and for a URL instead of a directory
 */
export function instanceLocation(
  data: string | undefined,
  firestore: string | undefined,
  environment: Surroundings['environment'],
): InstanceLocation {
  const masterKey = environment.IDENTITY_MASTER_KEY || undefined;
  const variables = { DATA_DIR: undefined, FIRESTORE_PROJECT: undefined, FIRESTORE_DATABASE: undefined };
  if (data !== undefined && firestore === undefined) {
    if (/^https?:\/\//i.test(data))
      throw usageError(
        `${data} is an address: specify the instance's directory by --data DIR, or its database by --firestore PROJECT[/DATABASE]`,
      );
    const directory = resolve(data);
    return {
      location: { kind: 'sqlite', directory, masterKey },
      defaultName: basename(directory),
      environment: { ...environment, ...variables, DATA_DIR: directory },
    };
  }
  if (data !== undefined || firestore === undefined)
    throw usageError('specify either --data DIR (self-hosted) or --firestore PROJECT[/DATABASE]');
  const [projectId = '', databaseId = '(default)'] = firestore.split('/');
  return {
    location: { kind: 'firestore', projectId, databaseId, masterKey },
    defaultName: databaseId === '(default)' ? projectId : databaseId,
    environment: { ...environment, ...variables, FIRESTORE_PROJECT: projectId, FIRESTORE_DATABASE: databaseId },
  };
}

/** Returns the value of `--data` or `--firestore` that selects the database from every working directory. */
export function databaseName(location: StoreLocation): string {
  return nameOption(location).value;
}

/** Returns the option that selects the database, quoted for a shell, such as `--data /srv/north`. */
export function databaseOption(location: StoreLocation): string {
  const { option, value } = nameOption(location);
  return `--${option} ${shellWord(value)}`;
}

function nameOption(location: StoreLocation): {
  readonly option: keyof typeof instanceOptions;
  readonly value: string;
} {
  switch (location.kind) {
    case 'sqlite':
      return { option: 'data', value: location.directory };
    case 'firestore': {
      const { projectId, databaseId } = location;
      return { option: 'firestore', value: databaseId === '(default)' ? projectId : `${projectId}/${databaseId}` };
    }
  }
}

/**
 * @param instead completes the error's sentence `an instance in Firestore …`, for example with `has no backup files`
 * @throws IdentityError USAGE_INVALID for a cloud-hosted instance
 */
export function embeddedDirectory({ directory }: StoreLocation, instead: string): string {
  if (directory !== undefined) return directory;
  throw usageError(`an instance in Firestore ${instead} (docs/operations-google-cloud.md)`);
}
