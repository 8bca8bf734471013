import { dirname } from 'node:path';
import { beforeAll, describe, onTestFinished } from 'vitest';
import { createStore } from '../../../shared/store/createStore.ts';
import { fencedDocuments } from '../../../shared/store/lock/fence.ts';
import { openStore, type StoreLocation } from '../../../shared/store/openStore.ts';
import { embeddedGuard } from '../../../shared/store/secrets/keyRecord.ts';
import { fileKeyring, keyFilePath } from '../../../shared/store/secrets/keyring.ts';
import { openSqliteDatabase, type SqliteOptions } from '../../../shared/store/sqlite/sqliteDatabase.ts';
import { decorateStore, type Store } from '../../../shared/store/store.ts';
import { newEmulatorDatabase } from '../emulators/emulatorDatabase.ts';
import { firestoreEmulator } from '../emulators/withFirestore.ts';
import { temporaryDirectory } from '../processes/temporaryDirectory.ts';

/** One implementation of the store. */
export interface StoreKind {
  readonly name: 'SQLite' | 'Firestore';
  readonly isAvailable: boolean;
  /** Returns a location without a database. After the test or its `setUpOnce`, a database created there is removed. */
  newLocation(): Promise<StoreLocation>;
  /** The decorator that `openTestStore` applies to the store. */
  readonly decorator?: Decorator;
}

interface Decorator {
  readonly name: string;
  decorate(store: Store): Promise<Store>;
}

type CleanUp = () => unknown;
let whenFinished: (cleanUp: CleanUp) => void = (cleanUp) => onTestFinished(async () => void (await cleanUp()));

/** Sets up the shared state of all tests of a `describe`. Its stores stay open until the last test has finished. */
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

/** The store in Cloud Firestore; in tests, in its emulator. */
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

const { signal: unlimited } = new AbortController();

/** A decorator in the form for tests: the store of a call. */
const forCall: Decorator = {
  name: 'for a call',
  decorate: async (store) => decorateStore(store, ({ getMany }) => ({ getMany })).forCall({ signal: unlimited }),
};

/** The store of an operation that holds the lock of the instance. */
const underLock: Decorator = {
  name: 'under the lock',
  decorate: async (store) => {
    const held = await store.lock.take({ mode: 'shared', operation: 'import', caller: 'test', signal: unlimited });
    whenFinished(() => held[Symbol.asyncDispose]());
    return decorateStore(store, (inner) => fencedDocuments(inner, held.fence));
  },
};

/** Describes the behaviour of every implementation. Reports an unavailable implementation as skipped. */
export function describeStores(subject: string, tests: (kind: StoreKind) => void): void {
  describeKinds(storeKinds, subject, tests);
}

/** Describes the behaviour of every implementation, and of the decorators of a store. */
export function describeContract(subject: string, tests: (kind: StoreKind) => void): void {
  const decorated = [
    { ...sqlite, decorator: forCall },
    { ...firestore, decorator: underLock },
  ];
  describeKinds([...storeKinds, ...decorated], subject, tests);
}

function describeKinds(kinds: readonly StoreKind[], subject: string, tests: (kind: StoreKind) => void): void {
  for (const kind of kinds) {
    const name = [kind.name, ...(kind.decorator ? [kind.decorator.name] : [])].join(' ');
    describe.skipIf(!kind.isAvailable)(`${subject} (${name})`, () => tests(kind));
  }
}

/** Returns the environment that gives a program the master key of a database, whose key is in a file next to it. */
export function keyEnvironment({ masterKey }: StoreLocation): Readonly<Record<string, string | undefined>> {
  return { IDENTITY_MASTER_KEY: masterKey };
}

/** Opens the embedded database in a file, with the keys next to it. */
export function openEmbeddedStore(file: string, options: Omit<SqliteOptions, 'keyring'> = {}): Store {
  const keyring = fileKeyring(keyFilePath(dirname(file)));
  return createStore(openSqliteDatabase(file, { keyring, ...options }), embeddedGuard(keyring));
}

/**
 * Opens a store, and closes it when the test or its `setUpOnce` has finished. Without `location`, opens a new, empty
 * database.
 */
export async function openTestStore(kind: StoreKind = sqlite, location?: StoreLocation): Promise<Store> {
  const store = await openStore(location ?? (await kind.newLocation()));
  whenFinished(() => store.close());
  return kind.decorator?.decorate(store) ?? store;
}

/** Does work with a new embedded database, and removes the database afterwards. */
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
