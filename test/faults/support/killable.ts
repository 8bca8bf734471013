import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { StoreLocation } from '../../../shared/store/openStore.ts';
import { type Running, startProgram } from '../../../tools/program.ts';
import { newEmulatorDatabase } from '../../support/emulators/emulatorDatabase.ts';
import { serve } from '../../support/instances/commandInstance.ts';
import { temporaryDirectory } from '../../support/processes/temporaryDirectory.ts';

/** A database, and the program that imports into it, which can be killed and started again. */
export interface Killable {
  readonly location: StoreLocation;
  /** Starts the program; `ready[1]` is its base URL. */
  start(): Promise<Running>;
  remove(): Promise<void>;
}

/** `identity serve` on a database file. */
export async function selfHosted(): Promise<Killable> {
  const { path, remove } = await temporaryDirectory();
  const env = { LOG_LEVEL: 'silent', FIRESTORE_EMULATOR_HOST: undefined };
  const start = () => serve(['--data', path], [], env);
  return { location: { kind: 'sqlite', directory: path }, start, remove };
}

/** The import function in functions-framework, on a database of the emulator. */
export async function cloudFunction(): Promise<Killable> {
  const { location, projectId, empty } = await newEmulatorDatabase();
  const framework = dirname(createRequire(import.meta.url).resolve('@google-cloud/functions-framework'));
  const args = [join(framework, 'main.js'), '--source=functions/import/index.ts', '--target=import', '--port=0'];
  const env = { FIRESTORE_PROJECT: projectId, DATA_DIR: undefined, IDENTITY_MASTER_KEY: location.masterKey };
  return {
    location,
    start: () => startProgram(process.execPath, args, /"url":"(http:[^"]+)"/, { env }),
    remove: empty,
  };
}
