import { DEFAULT_CREDENTIALS } from '../../shared/objectStorage/objectStorage.ts';
import type { Call } from '../command.ts';
import { loadConfig } from '../configuration.ts';
import { instanceLocation } from '../instanceLocation.ts';
import { parsePlace } from './parsePlace.ts';
import type { Place } from './place.ts';
import { readKeyFile, readTokenFile } from './secretFiles.ts';
import { type GivenPlace, secretFiles } from './secretOptions.ts';

type SecretFile = ReturnType<typeof secretFiles> extends Map<GivenPlace, infer File> ? File | undefined : never;

/**
 * Opens the two places of a call. Nothing is read from them yet but the files of their secrets.
 * @throws UsageError
 */
export async function openPlaces(call: Call, from: string, to: string): Promise<readonly [from: Place, to: Place]> {
  const source = { side: 'from', text: from, parsed: parsePlace(from) } as const;
  const target = { side: 'to', text: to, parsed: parsePlace(to) } as const;
  const files = secretFiles(call, [source, target]);
  return [await openPlace(call, source, files.get(source)), await openPlace(call, target, files.get(target))];
}

/**
 * Opens the only place of a call.
 * @throws UsageError
 */
export async function openOnlyPlace(call: Call, text: string): Promise<Place> {
  const place = { text, parsed: parsePlace(text) };
  return openPlace(call, place, secretFiles(call, [place]).get(place));
}

/** Loads only the modules of the place's kind. */
async function openPlace(call: Call, { parsed, text }: GivenPlace, secret: SecretFile): Promise<Place> {
  switch (parsed.kind) {
    case 'stream':
      return (await import('./streamPlace.ts')).streamPlace;
    case 'file':
      return (await import('./filePlace.ts')).openFile(parsed.path);
    case 'object': {
      const account = secret === undefined ? DEFAULT_CREDENTIALS : await readKeyFile(secret.file, secret.option);
      const { openObject } = await import('./objectPlace.ts');
      return openObject({ bucket: parsed.bucket, path: parsed.path, account });
    }
    case 'instance': {
      const { file = '', option = '' } = secret ?? {};
      const { openRemote } = await import('./remotePlace.ts');
      return openRemote({ origin: parsed.origin, token: await readTokenFile(file, option), tokenOption: option });
    }
    case 'sqlite':
      return openDatabaseAt(call, text, parsed.directory, undefined);
    case 'firestore':
      return openDatabaseAt(call, text, undefined, parsed.database);
  }
}

async function openDatabaseAt(call: Call, name: string, directory: string | undefined, database: string | undefined) {
  const masterKey = call.environment.IDENTITY_MASTER_KEY || undefined;
  const { store: location, environment } = instanceLocation(directory, database, masterKey);
  const { passwordHashing } = loadConfig({ ...call, environment: { ...call.environment, ...environment } });
  const { openDatabase } = await import('./databasePlace.ts');
  return openDatabase({ name, location, passwordHashing });
}
