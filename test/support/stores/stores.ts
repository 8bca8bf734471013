import { describe, onTestFinished } from 'vitest';
import { openStore, type StoreLocation } from '../../../shared/store/openStore.ts';
import type { Store } from '../../../shared/store/store.ts';
import { newEmulatorDatabase } from '../emulators/emulatorDatabase.ts';
import { firestoreEmulator } from '../emulators/withFirestore.ts';
import { temporaryDirectory } from '../processes/temporaryDirectory.ts';

/** One implementation of the store. */
export interface StoreKind {
  readonly name: 'SQLite' | 'Firestore';
  readonly isAvailable: boolean;
  /** A place where no database is yet; what comes to be there is removed when the test has finished. */
  newLocation(): Promise<StoreLocation>;
}

/** The embedded store. */
export const sqlite: StoreKind = {
  name: 'SQLite',
  isAvailable: true,
  newLocation: async () => {
    const directory = await temporaryDirectory();
    onTestFinished(() => directory.remove());
    return { kind: 'sqlite', directory: directory.path };
  },
};

/** The store in Cloud Firestore, here its emulator. */
export const firestore: StoreKind = {
  name: 'Firestore',
  isAvailable: firestoreEmulator !== null,
  newLocation: async () => {
    const { location, empty } = await newEmulatorDatabase();
    onTestFinished(empty);
    return location;
  },
};

const storeKinds: readonly StoreKind[] = [sqlite, firestore];

/** Describes what holds for every implementation; one that cannot run here is reported as skipped. */
export function describeStores(subject: string, tests: (kind: StoreKind) => void): void {
  for (const kind of storeKinds) {
    describe.skipIf(!kind.isAvailable)(`${subject} (${kind.name})`, () => tests(kind));
  }
}

/** The environment that gives a program the master key of a database that has it beside itself. */
export function keyEnvironment({ masterKey }: StoreLocation): Readonly<Record<string, string | undefined>> {
  return { IDENTITY_MASTER_KEY: masterKey };
}

/** Opens a store that is closed when the test has finished; without `location` on a new, empty database. */
export async function openTestStore(kind: StoreKind, location?: StoreLocation): Promise<Store> {
  const store = await openStore(location ?? (await kind.newLocation()));
  onTestFinished(() => store.close());
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
