import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Emulator, emptyEmulator, startEmulator } from '../tools/firestoreEmulator.ts';
import { writeSampleFile } from './tasks/sample.ts';
import { runTask } from './tasks/task.ts';

const EMULATOR_HEAP = '6g';
const WARM_UP_USERS = 20_000;

/** What the scenarios of a run share. */
export interface BenchContext {
  /** The number of users that the options ask for. */
  readonly users: number;
  /** Where the scenarios leave what must end, and the servers that must stop. */
  readonly resources: AsyncDisposableStack;
  /** Returns a path in a directory that goes away after the run. */
  path(name: string): string;
  /** Returns the path of an export file with one organisation of so many users. */
  sampleFile(users: number): Promise<string>;
  /** Returns the emulator of the run, already warm. */
  emulator(): Promise<Emulator | { readonly missing: string }>;
}

/** Creates the context of a run; its resources include a temporary directory. */
export async function createContext(users: number, resources: AsyncDisposableStack): Promise<BenchContext> {
  const directory = await mkdtemp(join(tmpdir(), 'identity-bench-'));
  resources.defer(() => rm(directory, { recursive: true }));
  const files = new Map<number, Promise<string>>();
  const path = (name: string) => join(directory, name);
  const sampleFile = (count: number) => {
    const file = files.get(count) ?? writeSampleFile(path(`${count} users.json`), { users: count });
    files.set(count, file);
    return file;
  };
  let emulator: ReturnType<BenchContext['emulator']> | undefined;
  return {
    users,
    resources,
    path,
    sampleFile,
    emulator: () => {
      emulator ??= sampleFile(WARM_UP_USERS).then((file) => startWarmEmulator(file, resources));
      return emulator;
    },
  };
}

/** Starts the emulator. Its first seconds are several times slower than the rest. */
async function startWarmEmulator(file: string, resources: AsyncDisposableStack) {
  const emulator = await startEmulator(EMULATOR_HEAP);
  if ('missing' in emulator) return emulator;
  resources.use(emulator);
  process.env.FIRESTORE_EMULATOR_HOST = emulator.address;
  const location = { kind: 'firestore', projectId: 'warm-up', databaseId: '(default)', masterKey: '' } as const;
  await runTask({ name: 'raw write', users: WARM_UP_USERS, file, location });
  await runTask({ name: 'raw read', users: WARM_UP_USERS, file, location });
  await emptyEmulator(emulator.address, location.projectId);
  return emulator;
}
