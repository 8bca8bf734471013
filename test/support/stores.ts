import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, onTestFinished } from 'vitest';
import { openStore, type StoreLocation } from '../../shared/store/openStore.ts';
import type { Store } from '../../shared/store/store.ts';
import { newEmulatorDatabase } from './emulatorDatabase.ts';
import { firestoreEmulator } from './withFirestore.ts';

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
    const directory = await mkdtemp(join(tmpdir(), 'identity-store-'));
    onTestFinished(() => rm(directory, { recursive: true }));
    return { kind: 'sqlite', directory };
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

/** Opens a store that is closed when the test has finished; without `location` on a new, empty database. */
export async function openTestStore(kind: StoreKind, location?: StoreLocation): Promise<Store> {
  const store = await openStore(location ?? (await kind.newLocation()));
  onTestFinished(() => store.close());
  return store;
}
