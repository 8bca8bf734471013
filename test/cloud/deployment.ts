import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { OWNER_ONLY } from '../../shared/durableFiles.ts';
import { type Ended, root } from '../../tools/program.ts';

/** Where the tests deploy. */
export interface Cloud {
  readonly project: string;
  /** The domain below which the instances `north` and `south` are. */
  readonly domain: string;
  readonly region: string;
  /** The customer's key that encrypts sources, images, functions and buckets. */
  readonly kmsKey?: string | undefined;
}

/** Runs a program to its end. */
export type Execute = (program: string, args: readonly string[]) => Promise<Ended>;

const environment = z.object({
  CLOUD_PROJECT: z.string().regex(/^[a-z][a-z0-9-]{4,28}[a-z0-9]$/),
  CLOUD_DOMAIN: z.string().regex(/^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]{2,63}$/),
  CLOUD_REGION: z
    .string()
    .regex(/^[a-z]+-[a-z]+[0-9]{1,2}$/)
    .default('europe-west1'),
  CLOUD_KMS_KEY: z.string().optional(),
});

/**
 * Reads where to deploy; undefined where nobody asks for it.
 * @throws Error unless both project and domain are named
 */
export function readCloud(env: NodeJS.ProcessEnv): Cloud | undefined {
  if (env.CLOUD_PROJECT === undefined && env.CLOUD_DOMAIN === undefined) return undefined;
  const { CLOUD_PROJECT, CLOUD_DOMAIN, CLOUD_REGION, CLOUD_KMS_KEY } = environment.parse(env);
  return { project: CLOUD_PROJECT, domain: CLOUD_DOMAIN, region: CLOUD_REGION, kmsKey: CLOUD_KMS_KEY };
}

/** The label that allows the tests to create and delete in a project. */
const [LABEL, THROWAWAY] = ['identity-test', 'throwaway'] as const;
const projectLabels = z.object({ labels: z.record(z.string(), z.string()).default({}) });

const services = ['cloudresourcemanager', 'firestore', 'iam', 'orgpolicy', 'run', 'secretmanager', 'serviceusage'];
const instances = ['north', 'south'] as const;
const accounts = ['exporter', 'importer'] as const;

/** Where the database of `south` is: a database can never move, so its location must be the one that was asked for. */
export const MULTI_REGION = 'eur3';

const LOCAL_STATE = 'terraform {\n  backend "local" {}\n}\n';
const END_OF_OUTPUT = 2_000;

/** Returns a function that runs programs. @throws Error with the end of a failed one's output */
export function strict(execute: Execute) {
  return async (program: string, ...args: readonly string[]): Promise<string> => {
    const { code, stdout, stderr } = await execute(program, args);
    if (code === 0) return stdout;
    const output = `${stdout}${stderr}`.trim().slice(-END_OF_OUTPUT);
    throw new Error(`${program} ${args.join(' ')} ended with ${code}:\n${output}`);
  };
}

/**
 * Deploys two instances, with master keys and accounts whose keys requests carry.
 * @param work a directory for keys, the configuration and its state, which only its owner can read
 * @returns what destroys the instances; where the deployment fails, they are destroyed before the error is thrown
 */
export async function deploy(cloud: Cloud, work: string, execute: Execute): Promise<AsyncDisposable> {
  const run = strict(execute);
  const gcloud = (line: string) => run('gcloud', ...line.split(' '), `--project=${cloud.project}`, '--quiet');
  await checkProject(cloud, gcloud);
  await gcloud(`services enable ${services.map((name) => `${name}.googleapis.com`).join(' ')}`);
  await run('npm', 'run', '-s', 'preflight', '--', '--project', cloud.project);
  await run('npm', 'run', '-s', 'build');
  for (const instance of instances) {
    const file = join(work, `${instance}-master-key`);
    await writeFile(file, randomBytes(32).toString('base64'), { mode: OWNER_ONLY, flag: 'wx' });
    await gcloud(`secrets create ${instance}-master-key --data-file=${file}`);
  }
  for (const account of accounts) {
    await gcloud(`iam service-accounts create test-${account}`);
    await gcloud(
      `iam service-accounts keys create ${join(work, account)}.json --iam-account=${address(cloud, account)}`,
    );
  }
  await copyConfiguration(work, run);
  await writeFile(join(work, 'terraform/terraform.tfvars.json'), variables(cloud, {}));
  await run('terraform', `-chdir=${work}/terraform`, 'init', '-input=false');
  await using deployed = new AsyncDisposableStack();
  deployed.defer(() => destroy(cloud, work, execute));
  await run('terraform', `-chdir=${work}/terraform`, 'apply', '-input=false', '-auto-approve');
  // The acceptance tests read from the bucket to which they have written.
  await gcloud(
    `storage buckets add-iam-policy-binding gs://${cloud.project}-north-exports --member=serviceAccount:${address(cloud, 'importer')} --role=roles/storage.objectViewer`,
  );
  return deployed.move();
}

/** Refuses a project that nobody has labelled for this: its databases would be deleted. */
async function checkProject({ project }: Cloud, gcloud: (line: string) => Promise<string>): Promise<void> {
  const { labels } = projectLabels.parse(JSON.parse(await gcloud(`projects describe ${project} --format=json`)));
  if (labels[LABEL] === THROWAWAY) return;
  throw new Error(
    `project ${project} has no label ${LABEL}=${THROWAWAY}: its databases would be deleted. Create a project for the tests, with --labels=${LABEL}=${THROWAWAY}`,
  );
}

/** Copies the committed configuration, so that no settings of the work tree are used, and keeps its state beside it. */
export async function copyConfiguration(work: string, run: ReturnType<typeof strict>): Promise<void> {
  await run('git', 'archive', `--output=${work}/terraform.tar`, 'HEAD', 'terraform', 'firestore.rules');
  await run('tar', '-xf', `${work}/terraform.tar`, '-C', work);
  await writeFile(join(work, 'terraform/backend_override.tf'), LOCAL_STATE);
}

/** Returns Terraform's variables. @param south more settings of the instance `south` */
export function variables(cloud: Cloud, south: object): string {
  const access = Object.fromEntries(accounts.map((name) => [`${name}s`, [`serviceAccount:${address(cloud, name)}`]]));
  return JSON.stringify({
    project_id: cloud.project,
    region: cloud.region,
    dist_directory: join(root, 'dist'),
    requests_per_minute: 10_000,
    admin_requests_per_minute: 10_000,
    alert_email: `alerts@${cloud.domain}`,
    kms_key: cloud.kmsKey,
    instances: {
      north: { domain: `north.${cloud.domain}`, ...access },
      south: { domain: `south.${cloud.domain}`, location: MULTI_REGION, ...access, ...south },
    },
  });
}

/**
 * Destroys what costs; the rest goes with the project.
 * @throws Error that says how to remove what is left
 */
async function destroy({ project }: Cloud, work: string, execute: Execute): Promise<void> {
  const failures: string[] = [];
  const attempt = async (program: string, args: readonly string[]) => {
    const { code, stderr } = await execute(program, args);
    if (code !== 0) failures.push(`${program} ${args.join(' ')}: ${stderr.trim().slice(-END_OF_OUTPUT)}`);
  };
  for (const bucket of instances.flatMap((name) => [`${name}-exports`, `${name}-imports`])) {
    // Fails for a bucket without objects.
    await execute('gcloud', ['storage', 'rm', `gs://${project}-${bucket}/**`, '--quiet']);
  }
  await attempt('terraform', [`-chdir=${work}/terraform`, 'destroy', '-input=false', '-auto-approve']);
  for (const instance of instances) {
    const options = [`--database=${instance}`, `--project=${project}`, '--quiet'];
    await attempt('gcloud', ['firestore', 'databases', 'update', '--no-delete-protection', ...options]);
    await attempt('gcloud', ['firestore', 'databases', 'delete', ...options]);
  }
  if (failures.length === 0) return;
  throw new Error(`something is left in the project; gcloud projects delete ${project}\n${failures.join('\n')}`);
}

function address({ project }: Cloud, account: (typeof accounts)[number]): string {
  return `test-${account}@${project}.iam.gserviceaccount.com`;
}
