import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { run } from '../../tools/program.ts';
import { type Cloud, deploy, readCloud, strict } from './deployment.ts';

const MINUTE_MS = 60_000;
/** The time for a person to create the DNS records, and for Google to issue the certificates. */
const PATIENCE_MS = 3 * 60 * MINUTE_MS;
const PAUSE_MS = 30_000;

const print = (line: string) => void process.stdout.write(`${line}\n`);

/** Deploys what the tests examine, and tells them by variables where it is. */
export default async function setup(): Promise<() => Promise<void>> {
  const cloud = readCloud(process.env);
  if (cloud === undefined) throw new Error('CLOUD_PROJECT and CLOUD_DOMAIN are not set');
  let destroyed: Promise<void> | undefined;
  let destroy: (() => Promise<void>) | undefined;
  // The test runner would end at once, and leave the instances behind.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.removeAllListeners(signal).on(signal, () => {
      print('interrupted: the clean-up goes on');
      void destroy?.().finally(() => process.exit(1));
    });
  }
  await using resources = new AsyncDisposableStack();
  resources.defer(() => print(`the rest goes with the project: gcloud projects delete ${cloud.project}`));
  const work = await mkdtemp(join(tmpdir(), 'identity-cloud-'));
  resources.defer(() => rm(work, { recursive: true }));
  resources.use(
    await deploy(cloud, work, (program, args) => {
      print([program, ...args].join(' '));
      return run(program, args, { env: { TF_IN_AUTOMATION: '1' } });
    }),
  );
  await waitForDomains(cloud, work);
  Object.assign(process.env, await acceptanceVariables(cloud, work), { CLOUD_WORK: work });
  const deployed = resources.move();
  destroy = () => {
    destroyed ??= deployed.disposeAsync();
    return destroyed;
  };
  return destroy;
}

/** Shows the DNS records to create, and waits until both domains serve. */
async function waitForDomains({ domain }: Cloud, work: string): Promise<void> {
  const records = await strict(run)('terraform', `-chdir=${work}/terraform`, 'output', '-json', 'dns_records');
  print(`create these DNS records:\n${JSON.stringify(JSON.parse(records), undefined, 2)}`);
  const deadline = Date.now() + PATIENCE_MS;
  for (const instance of ['north', 'south']) {
    const url = `https://${instance}.${domain}/health`;
    const serves = () =>
      fetch(url).then(
        ({ ok }) => ok,
        () => false,
      );
    while (!(await serves())) {
      if (Date.now() >= deadline) throw new Error(`${url} does not respond after ${PATIENCE_MS / MINUTE_MS} minutes`);
      await setTimeout(PAUSE_MS);
    }
  }
}

/** Creates the first token of each instance, and returns the variables of the acceptance tests. */
async function acceptanceVariables({ project, domain }: Cloud, work: string): Promise<Record<string, string>> {
  const createToken = async (instance: string) => {
    const file = join(work, `${instance}.pat`);
    const args = ['--firestore', `${project}/${instance}`, '--token-file', file];
    await strict(run)('npm', 'run', '-s', 'identity', '--', 'init', ...args);
    return (await readFile(file, 'utf8')).trim();
  };
  return {
    ACCEPTANCE_SOURCE_URL: `https://north.${domain}`,
    ACCEPTANCE_SOURCE_TOKEN: await createToken('north'),
    ACCEPTANCE_TARGET_URL: `https://south.${domain}`,
    ACCEPTANCE_TARGET_TOKEN: await createToken('south'),
    ACCEPTANCE_TARGET_DATABASE: `--firestore ${project}/south`,
    ACCEPTANCE_BUCKET: `${project}-north-exports`,
    ACCEPTANCE_EXPORTER: join(work, 'exporter.json'),
    ACCEPTANCE_IMPORTER: join(work, 'importer.json'),
  };
}
