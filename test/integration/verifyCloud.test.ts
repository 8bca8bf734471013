import { chmod, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { root, run, startProgram } from '../../tools/program.ts';
import { largeOrganisation, padding, slowOrganisation } from '../../tools/verifyCloud/people.ts';
import { testInstance } from '../support/instances/testInstance.ts';
import { type TemporaryDirectory, temporaryDirectory } from '../support/processes/temporaryDirectory.ts';
import { describeStores, openTestStore } from '../support/stores/stores.ts';

const ORG_ID = '880000000000000001';

describeStores('the requests of npm run verify:cloud', (kind) => {
  it('import people with large metadata, which fill an export', async () => {
    const instance = await testInstance(await openTestStore(kind));
    const { status, text } = await instance.attempt('import', JSON.parse(largeOrganisation(ORG_ID, 2).create()));
    expect({ status, text }).toMatchObject({ status: 200, text: expect.stringContaining('"failed":{}') });
    const { bytes, manifest } = await instance.export({ org_ids: [ORG_ID] });
    expect(manifest.counts.humanUsers).toBe(5);
    expect(bytes.length).toBeGreaterThan(1_900_000);
    expect(bytes.length).toBeLessThan(2_200_000);
  });

  it('import people with clear passwords, and account for them when sent again', async () => {
    const instance = await testInstance(await openTestStore(kind));
    const body: unknown = JSON.parse(slowOrganisation(ORG_ID, 2, '1m').create());
    expect((await instance.import(body)).summary).toMatchObject({ created: { humanUsers: 2 }, failed: {} });
    expect((await instance.import(body)).summary).toMatchObject({ unchanged: { humanUsers: 2 }, failed: {} });
  });

  it('have the size that they announce', () => {
    expect(padding(1_000).create()).toHaveLength(1_000);
  });
});

/** A program that logs its call, and does what a project needs to go on: it stays in the last call until SIGINT. */
const stub = `#!/bin/sh
echo "$(basename "$0") $*" >> "$LOG"
case "$*" in
  "projects describe"*) echo "{\\"projectNumber\\":\\"1\\",\\"labels\\":{$LABELS}}" ;;
  "secrets create south"*) trap 'exit 130' INT; while :; do sleep 0.05; done ;;
esac
`;

describe('npm run verify:cloud', () => {
  let directory: TemporaryDirectory = { path: '', remove: async () => {} };
  beforeEach(async () => {
    directory = await temporaryDirectory();
    await mkdir(join(directory.path, 'tmp'));
    for (const name of ['gcloud', 'terraform', 'git', 'tar', 'npm']) {
      const path = join(directory.path, name);
      await writeFile(path, stub);
      await chmod(path, 0o755);
    }
  });
  afterEach(() => directory.remove());

  const args = ['tools/verifyCloud.ts', '--project', 'acme-verify', '--domain', 'verify.example.com'];
  const log = () => join(directory.path, 'log');
  const calls = async () => (await readFile(log(), 'utf8').catch(() => '')).split('\n').filter((line) => line !== '');
  const left = () => readdir(join(directory.path, 'tmp'));
  const options = (labels = '') => ({
    cwd: root,
    env: {
      PATH: `${directory.path}${delimiter}${process.env.PATH}`,
      TMPDIR: join(directory.path, 'tmp'),
      LOG: log(),
      LABELS: labels,
    },
  });

  it('describes every step without --apply, and runs no program', async () => {
    const { code, stdout, stderr } = await run(process.execPath, args, options());
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain('terraform -chdir=$WORK/terraform destroy -input=false -auto-approve\n');
    expect(stdout).toContain('settles: Cloud Run keeps some paths that end in `z` for itself\n');
    expect(stdout).not.toContain('takes an hour');
    expect([await calls(), await left()]).toEqual([[], []]);
  });

  it('does nothing more in a project that has no label', async () => {
    const { code, stdout } = await run(process.execPath, [...args, '--apply'], options());
    expect(code).toBe(1);
    expect(stdout).toContain('failed: project: the project has no label identity-verify=throwaway');
    expect(await calls()).toEqual(['gcloud projects describe acme-verify --format=json --project=acme-verify --quiet']);
    expect(await left()).toEqual([]);
  });

  it('takes everything back after Ctrl-C', async () => {
    const program = await startProgram(
      process.execPath,
      [...args, '--apply'],
      /WORK=/,
      options('"identity-verify":"throwaway"'),
    );
    const isWaiting = async () => (await calls()).some((line) => line.startsWith('gcloud secrets create south'));
    await expect.poll(isWaiting, { timeout: 30_000 }).toBe(true);
    const { code, stdout } = await program.stop('SIGINT');
    expect(code).toBe(130);
    expect(stdout).toContain('failed: the run was interrupted');
    expect((await calls()).slice(-2)).toEqual([
      'gcloud secrets delete north-master-key --project=acme-verify --quiet',
      'gcloud secrets delete south-master-key --project=acme-verify --quiet',
    ]);
    expect(await left()).toEqual([]);
  });

  it('rejects a wrong option', async () => {
    const { code, stderr } = await run(process.execPath, ['tools/verifyCloud.ts', '--apply'], options());
    expect(code).toBe(64);
    expect(stderr).toMatch(/^--project is missing or invalid\nnpm run verify:cloud/);
  });
});
