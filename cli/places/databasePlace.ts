// A database as a place, without a server at an address.

import packageJson from '../../package.json' with { type: 'json' };
import type { Config } from '../../shared/config.ts';
import { describeInstance } from '../../shared/store/instance.ts';
import { openExistingStore, type StoreLocation } from '../../shared/store/openStore.ts';
import type { DatabasePlace, PlaceFacts } from '../exports/placeInterfaces.ts';
import { inProcess, openApplication } from './inProcess.ts';
import { openServer, ownLosses } from './instancePlace.ts';

/** A database, and the hashing of clear passwords. */
export interface DatabaseSettings extends Pick<Config, 'passwordHashing'> {
  readonly name: string;
  readonly location: StoreLocation;
}

/** Opens a database as a place: the server in this process, which opens the database for each call. */
export function openDatabase(settings: DatabaseSettings): DatabasePlace {
  const server = inProcess(settings.name, async () => {
    await using resources = new AsyncDisposableStack();
    const store = await openExistingStore(settings.location);
    resources.defer(() => store.close());
    const { application } = resources.use(await openApplication({ ...settings, store }));
    const held = resources.move();
    return { application, [Symbol.asyncDispose]: () => held.disposeAsync() };
  });
  return { ...openServer(server, thisService), facts: () => readDatabaseFacts(settings) };
}

/** The service of a database, in the version of this command. */
export const thisService = { service: 'identity', version: packageJson.version } as const;

/** Reads the facts about a database's instance. All operations are permitted, so none is tried. */
async function readDatabaseFacts({ location }: DatabaseSettings): Promise<PlaceFacts> {
  const store = await openExistingStore(location);
  try {
    return { ...thisService, ...(await describeInstance(store)), denied: [], exportLosses: ownLosses };
  } finally {
    await store.close();
  }
}
