import type { TestProject } from 'vitest/node';
import { startEmulator } from '../../../tools/firestoreEmulator.ts';
import { areMany } from '../repetitions.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The Firestore emulator's `host:port`; `null` if there is none. */
    firestoreEmulator: string | null;
  }
}

const HEAP = '4g';

/**
 * Starts the official Firestore emulator for the tests, unless FIRESTORE_EMULATOR_HOST is set. If there is none, the tests
 * that need it are skipped; with `CI=true` that is an error.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const address = process.env.FIRESTORE_EMULATOR_HOST;
  if (address !== undefined) return provide(project, address);
  const emulator = await startEmulator(HEAP, !areMany);
  if ('missing' in emulator) return doWithout(project, emulator.missing);
  // The workers and the programs that tests start inherit this, and the setup of the next project finds it.
  process.env.FIRESTORE_EMULATOR_HOST = emulator.address;
  provide(project, emulator.address);
  return async () => {
    await emulator[Symbol.asyncDispose]();
    delete process.env.FIRESTORE_EMULATOR_HOST;
  };
}

function provide(project: TestProject, address: string | null) {
  project.provide('firestoreEmulator', address);
  return async () => {};
}

function doWithout(project: TestProject, reason: string) {
  if (process.env.CI === 'true') throw new Error(`the Firestore tests cannot run: ${reason}`);
  process.stderr.write(`The Firestore tests of project ${project.name} are skipped: ${reason}.\n`);
  return provide(project, null);
}
