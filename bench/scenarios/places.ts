import { rm } from 'node:fs/promises';
import { temporaryKeyring } from '../../shared/store/secrets/keyring.ts';
import { emptyEmulator } from '../../tools/firestoreEmulator.ts';
import type { BenchContext } from '../context.ts';
import type { Scenario } from '../measure.ts';
import type { Location } from '../tasks/task.ts';

/** New databases for tasks. */
export interface Places {
  /** Returns the location of an empty database. */
  create(name: string): Location;
  /** Frees what a database occupies. */
  empty(location: Location): Promise<void>;
}

/** The stores on which the scenarios of both stores run. */
export type StoreKind = Location['kind'];

let created = 0;

/** Prepares a scenario on new databases of a store; returns the reason if this machine lacks the store. */
export function onStore(
  kind: StoreKind,
  prepare: (bench: BenchContext, places: Places) => ReturnType<Scenario['prepare']>,
): Scenario['prepare'] {
  return async (bench) => {
    const places = kind === 'sqlite' ? embeddedPlaces(bench) : await emulatorPlaces(bench);
    return 'missing' in places ? places : prepare(bench, places);
  };
}

function embeddedPlaces(bench: BenchContext): Places {
  return {
    create: (name) => ({ kind: 'sqlite', directory: bench.path(`${name}-${created++}`) }),
    empty: async (location) => {
      if (location.kind === 'sqlite') await rm(location.directory, { recursive: true, force: true });
    },
  };
}

async function emulatorPlaces(bench: BenchContext): Promise<Places | { readonly missing: string }> {
  const emulator = await bench.emulator();
  if ('missing' in emulator) return emulator;
  const masterKey = temporaryKeyring().newest().text;
  return {
    create: (name) => ({
      kind: 'firestore',
      projectId: `${name}-${created++}`,
      databaseId: '(default)',
      masterKey,
    }),
    empty: async (location) => {
      if (location.kind === 'firestore') await emptyEmulator(emulator.address, location.projectId);
    },
  };
}
