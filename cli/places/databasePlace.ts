import packageJson from '../../package.json' with { type: 'json' };
import type { Config } from '../../shared/config.ts';
import { describeInstance } from '../../shared/store/instance.ts';
import { openExistingStore, type StoreLocation } from '../../shared/store/openStore.ts';
import type { DatabasePlace, PlaceFacts } from '../exports/placeInterfaces.ts';
import { inProcess } from './inProcess.ts';
import { openServer, ownLosses } from './instancePlace.ts';

export interface DatabaseSettings extends Pick<Config, 'bcryptCost'> {
  readonly name: string;
  readonly location: StoreLocation;
}

/**
 * Returns a place for a database. This process itself handles each call to the place like a server, and opens the
 * database for the duration of the call.
 */
export function openDatabase(settings: DatabaseSettings): DatabasePlace {
  const open = async () => {
    const store = await openExistingStore(settings.location);
    return { ...settings, store, [Symbol.asyncDispose]: () => store.close() };
  };
  const place = openServer(inProcess(settings.name, open), thisService);
  // The operating system's user may do everything with the database, so do not test permissions here.
  const facts = async (): Promise<PlaceFacts> => {
    await using database = await open();
    return { ...thisService, ...(await describeInstance(database.store)), denied: [], exportLosses: ownLosses };
  };
  return { ...place, facts };
}

export const thisService = { service: 'identity', version: packageJson.version } as const;
