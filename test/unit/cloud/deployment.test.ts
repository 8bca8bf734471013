import { mkdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { deploy, readCloud, variables } from '../../cloud/deployment.ts';
import { temporaryDirectory } from '../../support/processes/temporaryDirectory.ts';

const cloud = { project: 'acme-test', domain: 'test.example.com', region: 'europe-west1' };
const labels = { 'identity-test': 'throwaway' };

/** Deploys by programs that do nothing but what the next one needs. @param fails how the command that fails begins */
async function deployTo(project: object, fails = 'none') {
  const { path: work, remove } = await temporaryDirectory();
  onTestFinished(remove);
  const calls: string[] = [];
  const execute = async (program: string, args: readonly string[]) => {
    const line = [program, ...args].join(' ').replaceAll(work, 'WORK');
    calls.push(line);
    if (program === 'tar') await mkdir(join(work, 'terraform'));
    return { code: line.includes(fails) ? 1 : 0, stdout: JSON.stringify(project), stderr: 'broken' };
  };
  const deployed = await deploy(cloud, work, execute).catch((error: unknown) => String(error));
  return { deployed, calls, work };
}

const destroying = [
  'gcloud storage rm gs://acme-test-north-exports/** --quiet',
  'gcloud storage rm gs://acme-test-north-imports/** --quiet',
  'gcloud storage rm gs://acme-test-south-exports/** --quiet',
  'gcloud storage rm gs://acme-test-south-imports/** --quiet',
  'terraform -chdir=WORK/terraform destroy -input=false -auto-approve',
  'gcloud firestore databases update --no-delete-protection --database=north --project=acme-test --quiet',
  'gcloud firestore databases delete --database=north --project=acme-test --quiet',
  'gcloud firestore databases update --no-delete-protection --database=south --project=acme-test --quiet',
  'gcloud firestore databases delete --database=south --project=acme-test --quiet',
];

describe('the project of a deployment', () => {
  it('is named with its domain, or there is none', () => {
    expect(readCloud({})).toBeUndefined();
    expect(readCloud({ CLOUD_PROJECT: 'acme-test', CLOUD_DOMAIN: 'test.example.com' })).toEqual(cloud);
  });

  it.each([
    [{ CLOUD_PROJECT: 'acme-test' }, 'CLOUD_DOMAIN'],
    [{ CLOUD_DOMAIN: 'test.example.com' }, 'CLOUD_PROJECT'],
    [{ CLOUD_PROJECT: 'acme-test --quiet', CLOUD_DOMAIN: 'test.example.com' }, 'CLOUD_PROJECT'],
    [{ CLOUD_PROJECT: 'acme-test', CLOUD_DOMAIN: 'example' }, 'CLOUD_DOMAIN'],
    [{ CLOUD_PROJECT: 'acme-test', CLOUD_DOMAIN: 'test.example.com', CLOUD_REGION: '$(id)' }, 'CLOUD_REGION'],
  ])('is refused as %j', (env, name) => {
    expect(() => readCloud(env)).toThrow(name);
  });

  it('is left alone without the label', async () => {
    const { deployed, calls } = await deployTo({ labels: { 'identity-test': 'other' } });
    expect(deployed).toContain('has no label identity-test=throwaway');
    expect(calls).toEqual(['gcloud projects describe acme-test --format=json --project=acme-test --quiet']);
  });
});

describe('a deployment', () => {
  it('is destroyed at its end, with databases and objects', async () => {
    const { deployed, calls } = await deployTo({ labels });
    if (typeof deployed === 'string') throw new Error(deployed);
    expect(calls).toContain('terraform -chdir=WORK/terraform apply -input=false -auto-approve');
    const begun = calls.length;
    await deployed[Symbol.asyncDispose]();
    expect(calls.slice(begun)).toEqual(destroying);
  });

  it('is destroyed when it fails half way', async () => {
    const { deployed, calls } = await deployTo({ labels }, 'terraform apply');
    expect(deployed).toContain('apply -input=false -auto-approve ended with 1');
    expect(calls.slice(-destroying.length)).toEqual(destroying);
  });

  it('says how to remove what cannot be destroyed', async () => {
    const { deployed } = await deployTo({ labels }, 'terraform destroy');
    if (typeof deployed === 'string') throw new Error(deployed);
    await expect(deployed[Symbol.asyncDispose]()).rejects.toThrow('gcloud projects delete acme-test');
  });

  it('has its keys in files for their owner only, and in no argument', async () => {
    const { calls, work } = await deployTo({ labels });
    const key = await readFile(join(work, 'north-master-key'), 'utf8');
    expect(Buffer.from(key, 'base64')).toHaveLength(32);
    expect(calls.join('\n')).not.toContain(key);
    expect((await stat(join(work, 'north-master-key'))).mode & 0o777).toBe(0o600);
  });

  it('has two instances', () => {
    const access = {
      exporters: ['serviceAccount:test-exporter@acme-test.iam.gserviceaccount.com'],
      importers: ['serviceAccount:test-importer@acme-test.iam.gserviceaccount.com'],
    };
    expect(JSON.parse(variables(cloud, { log_level: 'debug' }))).toMatchObject({
      project_id: 'acme-test',
      instances: {
        north: { domain: 'north.test.example.com', ...access },
        south: { domain: 'south.test.example.com', ...access, log_level: 'debug' },
      },
    });
  });
});
