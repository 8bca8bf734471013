import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { temporaryDirectory } from '../processes/temporaryDirectory.ts';
import { bucketAccess } from './deployed.ts';
import type { Deployment } from './deployments.ts';
import { startLocal } from './localStart.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /**
     * The deployment that the test files of a project share. `null` if their environment contains the addresses of a
     * deployment.
     */
    selfHostedDeployment: Deployment | null;
    /** The same on Firestore. Also `null` without the emulator. */
    firestoreDeployment: Deployment | null;
  }
}

/** A deployment that `npm start` runs for tests. */
export interface StartedDeployment {
  readonly deployment: Deployment;
  stop(): Promise<void>;
}

/**
 * Starts a deployment on embedded databases.
 * @param project the environment of the tests' project, for a setup, which does not run in it
 */
export function startSelfHosted(project?: NodeJS.ProcessEnv): Promise<StartedDeployment> {
  return startDeployment({}, (name, directory) => ['--data', join(directory, name)], project);
}

/** Starts a deployment on its own databases in the emulator, which all tests share. */
export function startOnFirestore(emulator: string): Promise<StartedDeployment> {
  const database = `acceptance-${randomUUID()}`;
  const env = { FIRESTORE_EMULATOR_HOST: emulator, FIRESTORE_DATABASE: database };
  return startDeployment(env, (name) => ['--firestore', `identity-${name}/${database}`]);
}

async function startDeployment(
  env: Readonly<Record<string, string>>,
  databaseOf: (name: string, directory: string) => readonly string[],
  project?: NodeJS.ProcessEnv,
): Promise<StartedDeployment> {
  const directory = await temporaryDirectory(project);
  const local = await startLocal({ directory: directory.path, env });
  const key = join(directory.path, 'storage', 'key.json');
  const deployment: Deployment = {
    source: { url: local.sourceUrl, token: local.sourceToken, database: databaseOf('source', directory.path) },
    target: { url: local.targetUrl, token: local.targetToken, database: databaseOf('target', directory.path) },
    bucket: await bucketAccess('identity-exports', key, key),
  };
  const stop = async () => {
    await local.stop();
    await directory.remove();
  };
  return { deployment, stop };
}
