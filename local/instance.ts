import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { allRoutes } from '../functions/allRoutes.ts';
import { initialise } from '../shared/accounts/initialise.ts';
import { createCloudStorage } from '../shared/bucket/cloudStorage.ts';
import { readConfig } from '../shared/config.ts';
import { createApp } from '../shared/http/createApp.ts';
import { serve } from '../shared/http/serve.ts';
import { instanceKey } from '../shared/instance.ts';
import { openStore, type StoreLocation } from '../shared/store/openStore.ts';
import type { Store } from '../shared/store/store.ts';

/** How one of the local instances is set up. */
export interface LocalInstanceOptions {
  readonly name: string;
  /** Where its token is kept and, without a Firestore emulator, its database. */
  readonly directory: string;
  readonly port: number;
  readonly storageUrl: string;
  /** Fills the database of a new instance. */
  readonly fill: (store: Store) => Promise<void>;
}

/** A running instance. */
export interface LocalInstance {
  readonly url: string;
  readonly tokenFile: string;
  close(): Promise<void>;
}

const TOKEN_LIFETIME_MS = 30 * 86_400_000;

/** Starts an instance as `identity serve` would; makes it first where it is new. */
export async function startInstance(options: LocalInstanceOptions): Promise<LocalInstance> {
  const { name, directory, port, storageUrl, fill } = options;
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const location = locationOf(name, directory);
  const store = await openStore(location);
  const tokenFile = join(directory, 'owner.pat');
  if (await isNew(store)) {
    const { token } = await initialise(store, name, TOKEN_LIFETIME_MS, new Date());
    await writeFile(tokenFile, token, { mode: 0o600 });
    await fill(store);
  }
  const config = readConfig({ ...process.env, ...environmentOf(location) });
  const bucket = createCloudStorage({ apiEndpoint: storageUrl });
  const app = createApp({ routes: allRoutes({ ...config, store, bucket, now: () => new Date() }) });
  const server = await serve({ app, host: '127.0.0.1', port, drainMs: config.shutdownMs });
  const close = async () => {
    await server.close();
    await store.close();
  };
  return { url: server.url, tokenFile, close };
}

/** The embedded database, or the emulator's where one is pointed to. */
function locationOf(name: string, directory: string): StoreLocation {
  const { FIRESTORE_EMULATOR_HOST, FIRESTORE_DATABASE = '(default)' } = process.env;
  if (FIRESTORE_EMULATOR_HOST === undefined) return { kind: 'sqlite', directory };
  return { kind: 'firestore', projectId: `identity-${name}`, databaseId: FIRESTORE_DATABASE };
}

function environmentOf(location: StoreLocation): Record<string, string | undefined> {
  if (location.kind === 'sqlite') return { DATA_DIR: location.directory, FIRESTORE_PROJECT: undefined };
  return { DATA_DIR: undefined, FIRESTORE_PROJECT: location.projectId, FIRESTORE_DATABASE: location.databaseId };
}

async function isNew(store: Store): Promise<boolean> {
  const [instance] = await store.getMany([instanceKey], ['createdAt']);
  return instance === undefined;
}
