import { dirname } from 'node:path';
import { beforeAll, describe, onTestFinished } from 'vitest';
import { openStore, type StoreLocation } from '../../../shared/store/openStore.ts';
import { embeddedGuard } from '../../../shared/store/secrets/keyRecord.ts';
import { fileKeyring, keyFilePath } from '../../../shared/store/secrets/keyring.ts';
import { sealStore } from '../../../shared/store/secrets/sealedStore.ts';
import { openSqliteStore, type SqliteStoreOptions } from '../../../shared/store/sqlite/openSqliteStore.ts';
import type { Store } from '../../../shared/store/store.ts';
import { newEmulatorDatabase } from '../emulators/emulatorDatabase.ts';
import { firestoreEmulator } from '../emulators/withFirestore.ts';
import { temporaryDirectory } from '../processes/temporaryDirectory.ts';

/** One implementation of the store. */
export interface StoreKind {
  readonly name: 'SQLite' | 'Firestore';
  readonly isAvailable: boolean;
  /** A location without a database; a database created there is removed when the test, or its `setUpOnce`, has finished. */
  newLocation(): Promise<StoreLocation>;
}

type CleanUp = () => unknown;
let whenFinished: (cleanUp: CleanUp) => void = (cleanUp) => onTestFinished(async () => void (await cleanUp()));

/** Sets up the shared state of all tests of a `describe`: its stores stay open until the last of them has finished. */
export function setUpOnce<Result>(setUp: () => Promise<Result>): () => Result {
  let result: { readonly value: Result } | undefined;
  beforeAll(async () => {
    const cleanUps: CleanUp[] = [];
    const usual = whenFinished;
    whenFinished = (cleanUp) => cleanUps.push(cleanUp);
    try {
      result = { value: await setUp() };
    } finally {
      whenFinished = usual;
    }
    return async () => {
      for (const cleanUp of cleanUps.toReversed()) await cleanUp();
    };
  });
  return () => {
    if (result === undefined) throw new Error('the set-up has not run');
    return result.value;
  };
}

/** The embedded store. */
export const sqlite: StoreKind = {
  name: 'SQLite',
  isAvailable: true,
  newLocation: async () => {
    const directory = await temporaryDirectory();
    whenFinished(() => directory.remove());
    return { kind: 'sqlite', directory: directory.path };
  },
};

/** The store in Cloud Firestore, here its emulator. */
export const firestore: StoreKind = {
  name: 'Firestore',
  isAvailable: firestoreEmulator !== null,
  newLocation: async () => {
    const { location, empty } = await newEmulatorDatabase();
    whenFinished(empty);
    return location;
  },
};

const storeKinds: readonly StoreKind[] = [sqlite, firestore];

/** Describes the behaviour of every implementation; an unavailable one is reported as skipped. */
export function describeStores(subject: string, tests: (kind: StoreKind) => void): void {
  for (const kind of storeKinds) {
    describe.skipIf(!kind.isAvailable)(`${subject} (${kind.name})`, () => tests(kind));
  }
}

/** The environment that gives a program the master key of a database whose key is stored beside it. */
export function keyEnvironment({ masterKey }: StoreLocation): Readonly<Record<string, string | undefined>> {
  return { IDENTITY_MASTER_KEY: masterKey };
}

/** Opens the embedded database in a file, with the keys beside it. */
export function openEmbeddedStore(file: string, options: Omit<SqliteStoreOptions, 'keyring'> = {}): Store {
  const keyring = fileKeyring(keyFilePath(dirname(file)));
  return sealStore(openSqliteStore(file, { keyring, ...options }), embeddedGuard(keyring));
}

/** Opens a store that is closed when the test, or its `setUpOnce`, has finished; without `location` on a new, empty database. */
export async function openTestStore(kind: StoreKind = sqlite, location?: StoreLocation): Promise<Store> {
  const store = await openStore(location ?? (await kind.newLocation()));
  whenFinished(() => store.close());
  return store;
}

/** Does some work with a new embedded database, which is removed afterwards. */
export async function withTemporaryStore<Result>(work: (store: Store) => Promise<Result>): Promise<Result> {
  const directory = await temporaryDirectory();
  const store = await openStore({ kind: 'sqlite', directory: directory.path });
  try {
    return await work(store);
  } finally {
    await store.close();
    await directory.remove();
  }
}
