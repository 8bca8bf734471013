import { mkdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { allRoutes } from '../functions/endpoints.ts';
import { importOrganisations } from '../functions/import/operation.ts';
import { initialise } from '../shared/accounts/initialise.ts';
import { instanceOwners } from '../shared/accounts/memberships.ts';
import { issueToken, type NewToken } from '../shared/accounts/personalAccessTokens.ts';
import { openAudit } from '../shared/audit/openAudit.ts';
import { requireOwner } from '../shared/auth/requireOwner.ts';
import { storeNewToken } from '../shared/auth/tokenFile.ts';
import { DAY_MS } from '../shared/clock.ts';
import { readConfig } from '../shared/config.ts';
import { hasCode } from '../shared/errors/identityError.ts';
import { createApp } from '../shared/http/app.ts';
import { docsRoutes } from '../shared/http/docsPage.ts';
import { serve } from '../shared/http/server.ts';
import { createCloudStorage } from '../shared/objectStorage/cloudStorage.ts';
import { instanceKey } from '../shared/store/instance.ts';
import { openStore } from '../shared/store/openStore.ts';
import { fileKeyring, keyFilePath } from '../shared/store/secrets/keyring.ts';
import { lockServedDirectory } from '../shared/store/servedDirectory.ts';
import type { Store } from '../shared/store/store.ts';
import { isAttended } from '../shared/turns.ts';
import { readIfExists } from './storage/serviceAccountKey.ts';

export interface LocalInstanceOptions extends LocalContent {
  /** The directory of the token file and, without a Firestore emulator, of the database. */
  readonly directory: string;
  readonly port: number;
  readonly storageUrl: string;
}

export interface LocalInstance {
  readonly url: string;
  readonly tokenFile: string;
  /** The address of the interactive documentation. The fragment of the address contains the owner's token. */
  readonly docsUrl: string;
  close(): Promise<void>;
}

export async function startInstance(options: LocalInstanceOptions): Promise<LocalInstance> {
  const { name, directory, port, storageUrl } = options;
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const config = readConfig({ ...process.env, ...storeEnvironment(name, directory) });
  const lock = await lockServedDirectory(config.storeLocation);
  const store = await openStore(config.storeLocation, { isAttended });
  const tokenFile = join(directory, 'owner.pat');
  const token = await prepareInstance(store, options, tokenFile, new Date());
  const objectStorage = createCloudStorage(storageUrl);
  const audit = openAudit(store, config, process.stderr);
  const routes = await allRoutes({ ...config, store, audit, objectStorage, now: () => new Date() });
  const app = createApp({ ...config, routes: [...routes, ...docsRoutes()] });
  const server = await serve({ app, host: '127.0.0.1', port, drainMs: config.shutdownMs, limits: config.limits });
  const close = async () => {
    await server.close();
    await audit.close();
    await store.close();
    lock?.[Symbol.dispose]();
  };
  return { url: server.url, tokenFile, docsUrl: `${server.url}/docs#token=${token}`, close };
}

function storeEnvironment(name: string, directory: string): Readonly<Record<string, string | undefined>> {
  if (process.env.FIRESTORE_EMULATOR_HOST === undefined)
    return { DATA_DIR: directory, FIRESTORE_PROJECT: undefined, IDENTITY_MASTER_KEY: undefined };
  const { text } = fileKeyring(keyFilePath(directory)).newest();
  return { DATA_DIR: undefined, FIRESTORE_PROJECT: `identity-${name}`, IDENTITY_MASTER_KEY: text };
}

export interface LocalContent {
  readonly name: string;
  /** Must be idempotent, because an earlier start may have seeded some or all of the records. */
  readonly fill: (store: Store) => Promise<void>;
}

const TOKEN_LIFETIME_MS = 30 * DAY_MS;

/**
 * Initialises and seeds the instance, unless an earlier start has done so. Returns a valid token of the owner. The
 * token file is written last, so a valid token in it proves that the instance is complete.
 */
export async function prepareInstance(
  store: Store,
  { name, fill }: LocalContent,
  tokenFile: string,
  now: Date,
): Promise<string> {
  const savedToken = (await readIfExists(tokenFile))?.trim();
  if (savedToken !== undefined && (await isValid(store, savedToken, now))) return savedToken;
  await rm(tokenFile, { force: true });
  const { token } = await storeNewToken(tokenFile, async () => {
    const created = (await isNew(store))
      ? await initialise(store, { name }, TOKEN_LIFETIME_MS, now)
      : await createOwnerToken(store, name, now);
    await fill(store);
    return created;
  });
  return token;
}

async function isValid(store: Store, token: string, now: Date): Promise<boolean> {
  try {
    await requireOwner({ store, now: () => now }, `Bearer ${token}`, 'export');
    return true;
  } catch (error) {
    if (hasCode(error, 'UNAUTHENTICATED', 'PERMISSION_DENIED')) return false;
    throw error;
  }
}

async function createOwnerToken(store: Store, name: string, now: Date): Promise<NewToken> {
  const [owner] = await instanceOwners(store);
  if (owner === undefined) throw new RangeError(`no IAM_OWNER on ${name}: delete LOCAL_DIR to start over`);
  return issueToken(store, owner, now, TOKEN_LIFETIME_MS);
}

async function isNew(store: Store): Promise<boolean> {
  const [instance] = await store.getMany([instanceKey], ['createdAt']);
  return instance === undefined;
}

/** The id of the person in the sample data who has the OTP e-mail factor. */
export const samplePerson = '330000000000000201';

const sampleFile = new URL('sample/organisations.json', import.meta.url);

/**
 * Imports the sample data: two organisations that a real ZITADEL exported, with the OTP e-mail factor added to one
 * person. After an interruption, a further call completes the data, because an import keeps existing records.
 */
export async function fillWithSample(store: Store): Promise<void> {
  const content = await readFile(sampleFile);
  const source = { open: () => asIterable(content) };
  const options = { withKeys: true };
  await importOrganisations(store, source, options, new Date().toISOString(), new AbortController().signal);
}

async function* asIterable(content: Uint8Array): AsyncGenerator<Uint8Array> {
  yield content;
}
