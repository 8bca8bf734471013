import type { TestProject } from 'vitest/node';
import { isDeployed } from './deployed.ts';
import { startOnFirestore } from './localDeployment.ts';

/** Starts a deployment on Firestore for the tests. Runs after the emulator's setup. */
export default async function setup(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  const emulator = process.env.FIRESTORE_EMULATOR_HOST;
  if (isDeployed || emulator === undefined) {
    project.provide('firestoreDeployment', null);
    return undefined;
  }
  const { deployment, stop } = await startOnFirestore(emulator);
  project.provide('firestoreDeployment', deployment);
  return stop;
}
