import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Ended, run } from '../../tools/program.ts';
import { type ConfigurationCopy, copyConfiguration } from '../terraform/configurationCopy.ts';
import { PROJECT, Project } from './google/project.ts';
import { type Google, startGoogle } from './google/server.ts';

/**
 * How long an enabled service does not answer, and a granted role has no effect. The configuration's waits are
 * shortened too.
 */
const PROPAGATION_MS = 2_000;
const SHORTENED_WAIT = '4s';

/** The exit code of a plan with changes. */
const CHANGES = 2;

/** The state is a file, and waits are shorter. Nothing else of the configuration is changed. */
const overrides: Readonly<Record<string, string>> = {
  'test_override.tf': `
terraform {
  backend "local" {}
}
${waits('services', 'build_roles')}`,
  'modules/instance/test_override.tf': waits('roles'),
};

function waits(...names: readonly string[]): string {
  return names
    .map((name) => `resource "time_sleep" "${name}" {\n  create_duration = "${SHORTENED_WAIT}"\n}\n`)
    .join('');
}

/** Variables of the configuration. */
export type Variables = Readonly<Record<string, unknown>>;

/** The configuration in a directory of its own, with the real provider and a stand-in of Google. */
export interface Applied extends AsyncDisposable {
  readonly google: Google;
  readonly project: Project;
  /** The directory of the copy. Its parent contains the other files that the configuration reads. */
  readonly directory: string;
  terraform(...args: readonly string[]): Promise<Ended>;
  // These return Terraform's output, and throw an error with it if Terraform fails.
  apply(variables: Variables, ...options: readonly string[]): Promise<string>;
  import(variables: Variables, address: string, id: string): Promise<string>;
  destroy(variables: Variables): Promise<string>;
  /** Plans; returns the output of a plan with changes, and nothing of an empty one. */
  planned(variables: Variables, ...options: readonly string[]): Promise<string>;
}

/** A copy of the configuration after `terraform init`. */
interface Initialised extends ConfigurationCopy {
  readonly failure: string | undefined;
}

/** Copies the configuration for tests, and initialises it. */
export async function initialised(): Promise<Initialised> {
  const copy = await copyConfiguration();
  for (const [path, text] of Object.entries(overrides)) await writeFile(join(copy.directory, path), text);
  const { code, stderr } = await run('terraform', [`-chdir=${copy.directory}`, 'init', '-no-color', '-input=false']);
  return { ...copy, failure: code === 0 ? undefined : stderr.trim() };
}

/** What a project has before the first apply. Each secret has two versions. */
interface Existing {
  readonly secrets: readonly string[];
  readonly accounts?: readonly string[];
  readonly channels?: readonly string[];
}

/** Prepares a project. */
export async function startProject({ secrets, accounts = [], channels = [] }: Existing): Promise<Applied> {
  const project = new Project(PROPAGATION_MS);
  const below = `projects/${PROJECT}`;
  for (const secret of secrets) project.addSecret(secret);
  for (const account of accounts)
    project.put(`iam/${below}/serviceAccounts/${account}@${PROJECT}.iam.gserviceaccount.com`, {});
  for (const channel of channels) project.put(`monitoring/${below}/notificationChannels/${channel}`, {});
  const copy = await initialised();
  if (copy.failure !== undefined) throw new Error(copy.failure);
  const google = await startGoogle(project);
  const terraform = (...args: readonly string[]) =>
    run('terraform', [`-chdir=${copy.directory}`, ...args], {
      env: { ...google.environment, TF_IN_AUTOMATION: '1', CHECKPOINT_DISABLE: '1' },
    });
  const withVariables = async (variables: Variables, verb: string, ...args: readonly string[]) => {
    const file = join(copy.directory, `${randomUUID()}.tfvars.json`);
    await writeFile(file, JSON.stringify(variables));
    return terraform(verb, '-no-color', '-input=false', `-var-file=${file}`, ...args);
  };
  const succeed = async (variables: Variables, verb: string, ...args: readonly string[]) => {
    const { code, stdout, stderr } = await withVariables(variables, verb, ...args);
    if (code !== 0) throw new Error(`${stderr}\n${stdout}`);
    return stdout;
  };
  return {
    google,
    project,
    directory: copy.directory,
    terraform,
    apply: (variables, ...options) => succeed(variables, 'apply', '-auto-approve', ...options),
    import: (variables, address, id) => succeed(variables, 'import', address, id),
    destroy: (variables) => succeed(variables, 'destroy', '-auto-approve'),
    async planned(variables, ...options) {
      const { code, stdout, stderr } = await withVariables(variables, 'plan', '-detailed-exitcode', ...options);
      if (code !== 0 && code !== CHANGES) throw new Error(`${stderr}\n${stdout}`);
      return code === CHANGES ? stdout : '';
    },
    async [Symbol.asyncDispose]() {
      await google[Symbol.asyncDispose]();
      await copy[Symbol.asyncDispose]();
    },
  };
}
