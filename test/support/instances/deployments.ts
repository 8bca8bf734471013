import { afterAll, beforeAll, describe, inject } from 'vitest';
import { describeWithFirestore, firestoreEmulator } from '../emulators/withFirestore.ts';
import { deployed, isDeployed } from './deployed.ts';
import { type StartedDeployment, startOnFirestore, startSelfHosted } from './localDeployment.ts';

/** An instance, with the facts that its operator has. */
export interface Instance {
  readonly url: string;
  /** A token of a service user with the role IAM_OWNER. */
  readonly token: string;
  /** Options of the `identity` command for its database. Undefined if the command cannot reach the database. */
  readonly database: readonly string[] | undefined;
}

/**
 * A bucket, and key files in base64 of the accounts that may create and read its objects. Both accounts may be the
 * same.
 */
export interface BucketAccess {
  readonly bucket: string;
  readonly exporter: string;
  readonly importer: string;
}

/** Two instances and a bucket between them. */
export interface Deployment {
  readonly source: Instance;
  readonly target: Instance;
  readonly bucket: BucketAccess | undefined;
}

/** The reason why a test that needs a bucket is skipped. */
export const noBucket = 'ACCEPTANCE_BUCKET, ACCEPTANCE_EXPORTER and ACCEPTANCE_IMPORTER are not all set';

/**
 * Describes the behaviour of every deployment: the deployment in ACCEPTANCE_SOURCE_URL, ACCEPTANCE_SOURCE_TOKEN,
 * ACCEPTANCE_TARGET_URL and ACCEPTANCE_TARGET_TOKEN if they are set, and otherwise a self-hosted one.
 */
export function describeDeployment(subject: string, tests: (get: () => Deployment) => void): void {
  if (isDeployed) describe(`${subject} (deployed)`, () => withDeployment(deployed, tests));
  else describe(`${subject} (self-hosted)`, () => withDeployment(() => started('selfHostedDeployment'), tests));
}

/** Like `describeDeployment`, and again on Firestore. For the tests of all operations. */
export function describeDeployments(subject: string, tests: (get: () => Deployment) => void): void {
  describeDeployment(subject, tests);
  if (!isDeployed)
    describeWithFirestore(`${subject} (on Firestore)`, () =>
      withDeployment(() => started('firestoreDeployment'), tests),
    );
}

/** Like `describeDeployments`, with new deployments that no other test uses. */
export function describeOwnDeployments(subject: string, tests: (get: () => Deployment) => void): void {
  if (isDeployed) {
    describeDeployment(subject, tests);
    return;
  }
  const onFirestore = () => startOnFirestore(firestoreEmulator ?? '');
  describe(`${subject} (self-hosted)`, () => withOwnDeployment(() => startSelfHosted(), tests));
  describeWithFirestore(`${subject} (on Firestore)`, () => withOwnDeployment(onFirestore, tests));
}

function withOwnDeployment(start: () => Promise<StartedDeployment>, tests: (get: () => Deployment) => void): void {
  let started: StartedDeployment | undefined;
  afterAll(() => started?.stop());
  withDeployment(async () => {
    started = await start();
    return started.deployment;
  }, tests);
}

function withDeployment(find: () => Deployment | Promise<Deployment>, tests: (get: () => Deployment) => void): void {
  let deployment: Deployment | undefined;
  beforeAll(async () => {
    deployment = await find();
  });
  tests(() => {
    if (deployment === undefined) throw new Error('the deployment is there only while its tests run');
    return deployment;
  });
}

function started(name: 'selfHostedDeployment' | 'firestoreDeployment'): Deployment {
  const deployment = inject(name);
  if (deployment === null) throw new Error(`the set-up of the project started no ${name}`);
  return deployment;
}
