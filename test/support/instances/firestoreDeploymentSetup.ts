import { randomUUID } from 'node:crypto';
import type { TestProject } from 'vitest/node';
import { isDeployed } from './deployed.ts';
import { startDeployment } from './localDeployment.ts';

/** Starts a deployment on Firestore for the tests. Runs after the emulator's setup. */
export default async function setup(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  const emulator = process.env.FIRESTORE_EMULATOR_HOST;
  if (isDeployed || emulator === undefined) {
    project.provide('firestoreDeployment', null);
    return undefined;
  }
  // All tests share the emulator.
  const database = `acceptance-${randomUUID()}`;
  const env = { FIRESTORE_EMULATOR_HOST: emulator, FIRESTORE_DATABASE: database };
  const { deployment, stop } = await startDeployment(env, (name) => ['--firestore', `identity-${name}/${database}`]);
  project.provide('firestoreDeployment', deployment);
  return stop;
}
