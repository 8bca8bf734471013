import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { allRoutes } from '../functions/allRoutes.ts';
import { createCloudStorage } from '../shared/bucket/cloudStorage.ts';
import { readConfig } from '../shared/config.ts';
import { createApp } from '../shared/http/createApp.ts';
import { docsRoutes } from '../shared/http/docs.ts';
import { serve } from '../shared/http/serve.ts';
import { openStore, type StoreLocation } from '../shared/store/openStore.ts';
import { type LocalContent, prepareInstance } from './prepareInstance.ts';

/** How one of the local instances is set up. */
export interface LocalInstanceOptions extends LocalContent {
  /** Where its token is kept and, without a Firestore emulator, its database. */
  readonly directory: string;
  readonly port: number;
  readonly storageUrl: string;
}

/** A running instance. */
export interface LocalInstance {
  readonly url: string;
  readonly tokenFile: string;
  close(): Promise<void>;
}

/** Starts an instance as `identity serve` would; makes it first where it is new, and what of it is missing. */
export async function startInstance(options: LocalInstanceOptions): Promise<LocalInstance> {
  const { name, directory, port, storageUrl } = options;
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const location = locationOf(name, directory);
  const store = await openStore(location);
  const tokenFile = join(directory, 'owner.pat');
  await prepareInstance(store, options, tokenFile, new Date());
  const config = readConfig({ ...process.env, ...environmentOf(location) });
  const bucket = createCloudStorage({ apiEndpoint: storageUrl });
  const routes = allRoutes({ ...config, store, bucket, now: () => new Date() });
  const app = createApp({ ...config, routes: [...routes, ...docsRoutes] });
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
