import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe } from 'vitest';
import { z } from 'zod';
import { describeWithFirestore, firestoreEmulator } from '../emulators/withFirestore.ts';
import { temporaryDirectory } from '../processes/temporaryDirectory.ts';
import { startLocal } from './localStart.ts';

/** One instance, with the facts that its operator knows. */
export interface Instance {
  readonly url: string;
  /** A token of a service user with the role IAM_OWNER. */
  readonly token: string;
  /** Options of the `identity` command that name its database; undefined where the command cannot reach it. */
  readonly database: readonly string[] | undefined;
}

/** A bucket, and the base64 of key files of accounts that may create and read objects in it; both may be the same. */
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

interface Started extends Deployment {
  stop(): Promise<void>;
}

/**
 * Describes the behaviour of every deployment: the one in ACCEPTANCE_SOURCE_URL, ACCEPTANCE_SOURCE_TOKEN,
 * ACCEPTANCE_TARGET_URL and ACCEPTANCE_TARGET_TOKEN if they are set, and otherwise a self-hosted one.
 */
export function describeDeployment(subject: string, tests: (get: () => Deployment) => void): void {
  if (isDeployed) describe(`${subject} (deployed)`, () => withDeployment(deployed, tests));
  else describe(`${subject} (self-hosted)`, () => withDeployment(selfHosted, tests));
}

/** Like `describeDeployment`, and once more on Firestore: for the tests of all operations. */
export function describeDeployments(subject: string, tests: (get: () => Deployment) => void): void {
  describeDeployment(subject, tests);
  if (!isDeployed) describeWithFirestore(`${subject} (on Firestore)`, () => withDeployment(onFirestore, tests));
}

const isDeployed = process.env.ACCEPTANCE_TARGET_URL !== undefined;

function withDeployment(start: () => Promise<Started>, tests: (get: () => Deployment) => void): void {
  let deployment: Started | undefined;
  beforeAll(async () => {
    const started = await start();
    deployment = started;
    return () => started.stop();
  });
  tests(() => {
    if (deployment === undefined) throw new Error('the deployment is there only while its tests run');
    return deployment;
  });
}

const variables = z.object({
  ACCEPTANCE_SOURCE_URL: z.url(),
  ACCEPTANCE_SOURCE_TOKEN: z.string(),
  ACCEPTANCE_TARGET_URL: z.url(),
  ACCEPTANCE_TARGET_TOKEN: z.string(),
  /** Such as `--firestore PROJECT`. */
  ACCEPTANCE_TARGET_DATABASE: z.string().optional(),
  ACCEPTANCE_BUCKET: z.string().optional(),
  /** Key files. */
  ACCEPTANCE_EXPORTER: z.string().optional(),
  ACCEPTANCE_IMPORTER: z.string().optional(),
});

async function deployed(): Promise<Started> {
  const given = variables.parse(process.env);
  const { ACCEPTANCE_BUCKET: bucket, ACCEPTANCE_EXPORTER: exporter, ACCEPTANCE_IMPORTER: importer } = given;
  const hasBucket = bucket !== undefined && exporter !== undefined && importer !== undefined;
  return {
    source: { url: given.ACCEPTANCE_SOURCE_URL, token: given.ACCEPTANCE_SOURCE_TOKEN, database: undefined },
    target: {
      url: given.ACCEPTANCE_TARGET_URL,
      token: given.ACCEPTANCE_TARGET_TOKEN,
      database: given.ACCEPTANCE_TARGET_DATABASE?.split(' '),
    },
    bucket: hasBucket ? await bucketAccess(bucket, exporter, importer) : undefined,
    stop: async () => {},
  };
}

const selfHosted = () => startBoth({}, (name, directory) => ['--data', join(directory, name)]);

// A separate database for each, because all tests share the emulator.
function onFirestore(): Promise<Started> {
  const name = `acceptance-${randomUUID()}`;
  const env = { FIRESTORE_EMULATOR_HOST: firestoreEmulator ?? undefined, FIRESTORE_DATABASE: name };
  return startBoth(env, (instance) => ['--firestore', `identity-${instance}/${name}`]);
}

async function startBoth(
  env: Readonly<Record<string, string | undefined>>,
  databaseOf: (name: string, directory: string) => readonly string[],
): Promise<Started> {
  const directory = await temporaryDirectory();
  const local = await startLocal({ directory: directory.path, env });
  const key = join(directory.path, 'storage', 'key.json');
  return {
    source: { url: local.sourceUrl, token: local.sourceToken, database: databaseOf('source', directory.path) },
    target: { url: local.targetUrl, token: local.targetToken, database: databaseOf('target', directory.path) },
    bucket: await bucketAccess('identity-exports', key, key),
    stop: async () => {
      await local.stop();
      await directory.remove();
    },
  };
}

async function bucketAccess(bucket: string, exporter: string, importer: string): Promise<BucketAccess> {
  return { bucket, exporter: await readFile(exporter, 'base64'), importer: await readFile(importer, 'base64') };
}
