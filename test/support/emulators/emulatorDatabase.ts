import { randomBytes, randomUUID } from 'node:crypto';
import { openStore, type StoreLocation } from '../../../shared/store/openStore.ts';
import { emptyEmulator } from '../../../tools/firestoreEmulator.ts';
import { firestoreEmulator } from './withFirestore.ts';

/** The master key of all databases in the emulator, in the form for `IDENTITY_MASTER_KEY`. */
export const emulatorMasterKey = randomBytes(32).toString('base64');

/** A database of the emulator, in its own project. */
export interface EmulatorDatabase {
  readonly projectId: string;
  readonly location: StoreLocation;
  /** Removes its content. Otherwise, the emulator would keep it in memory until it ends. */
  empty(): Promise<void>;
}

const FIRST = { collection: 'instance', id: 'first' } as const;

/** Makes a database in the emulator. */
export async function newEmulatorDatabase(): Promise<EmulatorDatabase> {
  const address = firestoreEmulator;
  if (address === null) throw new Error('there is no Firestore emulator');
  const projectId = `test-${randomUUID()}`;
  const location: StoreLocation = {
    kind: 'firestore',
    projectId,
    databaseId: '(default)',
    masterKey: emulatorMasterKey,
  };
  await untilItKeeps(location);
  return { projectId, location, empty: () => emptyEmulator(address, projectId) };
}

// If several databases are created at the same moment, the emulator loses the first commits to all except one.
async function untilItKeeps(location: StoreLocation): Promise<void> {
  const store = await openStore(location);
  try {
    for (let found: unknown; found === undefined; [found] = await store.getMany([FIRST]))
      await store.commit([
        { type: 'delete', key: FIRST },
        { type: 'create', key: FIRST, fields: {} },
      ]);
    await store.commit([{ type: 'delete', key: FIRST }]);
  } finally {
    await store.close();
  }
}
