import type { TestProject } from 'vitest/node';
import { isDeployed } from './deployed.ts';
import { startSelfHosted } from './localDeployment.ts';

/** Starts a self-hosted deployment for the tests, unless their environment contains the addresses of a deployment. */
export default async function setup(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  if (isDeployed) {
    project.provide('selfHostedDeployment', null);
    return undefined;
  }
  const { deployment, stop } = await startSelfHosted(project.config.env);
  project.provide('selfHostedDeployment', deployment);
  return stop;
}
