import { randomUUID } from 'node:crypto';
import { cp, mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { z } from 'zod';
import type { BuiltFunction } from '../../tools/build/buildFunction.ts';
import { coldStart, startBuilt } from '../../tools/build/coldStart.ts';
import { type Running, run } from '../../tools/program.ts';
import { identityJson } from '../support/command.ts';
import { emulatorMasterKey } from '../support/emulators/emulatorDatabase.ts';
import { functionAccount } from '../support/emulators/functionAccount.ts';
import { type LocalBucket, startLocalBucket } from '../support/emulators/localBucket.ts';
import { describeWithFirestore, firestoreEmulator } from '../support/emulators/withFirestore.ts';
import { comparable } from '../support/fixtures/comparable.ts';
import { organisation as organisationOf, person } from '../support/fixtures/organisations.ts';
import { peopleOf, sampleOrganisation } from '../support/fixtures/sampleOrganisation.ts';
import { exportFrom, importInto, parseOk, post, removeOtpEmail } from '../support/http/wire.ts';
import { buildAll, unpack } from '../support/processes/builtFunctions.ts';
import { temporaryDirectory } from '../support/processes/temporaryDirectory.ts';

/** Exceeded by the file of one test only. */
const RESPONSE_BYTES = 20_000;

describeWithFirestore('functions that were built and installed for production, outside the repository', () => {
  const running = new Map<string, Running>();
  let token = '';
  let compiled: readonly string[] = [];
  let directories: readonly string[] = [];
  let storage: LocalBucket | undefined;

  beforeAll(async () => {
    const directory = await temporaryDirectory();
    storage = await startLocalBucket();
    const [project, database] = ['identity-built', `built-${randomUUID()}`];
    const env = {
      FIRESTORE_EMULATOR_HOST: firestoreEmulator ?? undefined,
      FIRESTORE_PROJECT: project,
      FIRESTORE_DATABASE: database,
      STORAGE_EMULATOR_HOST: storage.url,
      K_SERVICE: 'built',
      TRANSFER_BUCKET: 'exports',
      MAX_RESPONSE_BYTES: String(RESPONSE_BYTES),
      ...functionAccount(storage.url),
    };
    const withKey = { ...env, IDENTITY_MASTER_KEY: emulatorMasterKey };
    const made = await identityJson(['init', '--firestore', `${project}/${database}`], { env });
    token = z.looseObject({ token: z.string() }).parse(made).token;
    const built = await buildAll(join(directory.path, 'dist'));
    const installed = await installFunctions(built, directory.path);
    directories = installed;
    compiled = await Promise.all(installed.map(compileAsGoogle));
    const starting = built.map(async ({ name }, index) => {
      // As deployed: the removal has no master key.
      running.set(name, await startBuilt(installed[index] ?? '', name === 'removeOtpEmail' ? env : withKey));
    });
    await Promise.all(starting);
    return () => directory.remove();
  }, 180_000);

  afterAll(async () => {
    for (const one of running.values()) await one.stop('SIGKILL');
    await storage?.close();
  });

  const instance = (name: string) => {
    const url = running.get(name)?.ready[1];
    if (url === undefined) throw new Error(`${name} does not run`);
    return { url, token, database: undefined };
  };

  const organisation = sampleOrganisation();
  const { ada } = peopleOf(organisation);
  const withoutFactor = {
    ...organisation,
    humanUsers: organisation.humanUsers.map(({ otpEmail, ...user }) =>
      otpEmail === true && user.userId !== ada ? { ...user, otpEmail } : user,
    ),
  };

  it('are compiled by the build in Google Cloud, under the options of their processes', () => {
    expect(compiled).toEqual(Array.from({ length: 3 }, () => expect.stringMatching(/index\.js was accepted/)));
  });

  it('respond to the request by which the build measures their cold starts', async () => {
    for (const directory of directories) expect(await coldStart(directory)).toBeGreaterThan(0);
  });

  it('import, remove a factor and export together, on Firestore', async () => {
    const { summary } = await importInto(instance('import'), { timeout: '1m', data_orgsv1: { orgs: [organisation] } });
    expect(summary.created).toMatchObject({ org: 1, humanUsers: 4 });
    parseOk(await removeOtpEmail(instance('removeOtpEmail'), ada));
    const file = await exportFrom(instance('export'), { org_ids: [organisation.orgId] });
    expect(comparable(file.orgs)).toEqual(comparable([withoutFactor]));
  });

  it('import with events, whose last line is the response', async () => {
    const { url } = instance('import');
    const headers = { authorization: `Bearer ${token}`, accept: 'application/x-ndjson' };
    const body = JSON.stringify({ data_orgsv1: { orgs: [organisationOf('events')] } });
    const response = await fetch(`${url}/admin/v1/import`, { method: 'POST', headers, body });
    expect(response.headers.get('content-type')).toBe('application/x-ndjson');
    const lines = (await response.text()).trimEnd().split('\n');
    const events = lines.map((line) => z.looseObject({ event: z.string() }).parse(JSON.parse(line)));
    expect(events.filter(({ event }) => event === 'progress').length).toBeGreaterThanOrEqual(5);
    expect(events.at(-1)).toMatchObject({ event: 'result', response: { summary: { created: { org: 1 } } } });
  });

  it('import a clear password, which a worker thread hashes', async () => {
    const people = organisationOf('clear', { humanUsers: [person('clear', { password: 'Password1!' })] });
    for (const counted of ['created', 'unchanged'] as const) {
      const { summary } = await importInto(instance('import'), { timeout: '1m', data_orgsv1: { orgs: [people] } });
      expect(summary[counted]).toMatchObject({ humanUsers: 1 });
    }
    const file = await exportFrom(instance('export'), { org_ids: ['clear'], with_passwords: true });
    expect(JSON.stringify(file.orgs)).toMatch(/"hashedPassword":\{"value":"\$2b\$12\$.{53}"\}/);
  });

  it('export to a bucket, and import from it', async () => {
    const key = await readFile(storage?.keyFile ?? '', 'base64');
    const object = { bucket: 'exports', path: 'built.json', serviceaccount_json: key };
    const selection = { org_ids: [organisation.orgId], with_passwords: true, with_otp: true };
    const answer = await post(instance('export'), 'export', { ...selection, gcs_output: object });
    expect(parseOk(answer)).toMatchObject({ object: { bucket: 'exports', path: 'built.json' } });
    const { summary } = await importInto(instance('import'), { timeout: '1m', data_orgsv1_gcs: object });
    expect(summary).toMatchObject({ created: {}, unchanged: { org: 1, humanUsers: 4 }, failed: {}, proved: true });
  });

  it('exchange a file that exceeds a response through the bucket for transfers, as its own account', async () => {
    const humanUsers = Array.from({ length: 100 }, (_, index) => person(`person-${index}`));
    const file = JSON.stringify({ orgs: [organisationOf('large', { humanUsers })] });
    expect(file.length).toBeGreaterThan(RESPONSE_BYTES);
    const opened = parseOk(await post(instance('import'), 'import', { upload: { size: file.length } }));
    const { upload } = z.object({ upload: z.object({ id: z.string(), uri: z.url() }) }).parse(opened);
    expect((await fetch(upload.uri, { method: 'PUT', body: file })).status).toBe(200);
    const { summary } = await importInto(instance('import'), { timeout: '1m', data_orgs_upload: upload.id });
    expect(summary.created).toMatchObject({ org: 1, humanUsers: 100 });
    // Node's fetch follows 303 to the signed URL.
    const exported = await exportFrom(instance('export'), { org_ids: ['large'] });
    expect(exported.manifest.counts).toMatchObject({ orgs: 1, humanUsers: 100 });
    await running.get('import')?.written('"import.uploadOpened"');
    await running.get('export')?.written('"export.finished"');
    const logs = Array.from(running.values(), (one) => one.stdout() + one.stderr()).join('');
    for (const secret of [new URL(upload.uri).search, 'upload_id', 'X-Goog-Signature'])
      expect(logs).not.toContain(secret);
  });

  it('end with exit code 0 at SIGTERM, and have written nothing to standard error', async () => {
    for (const one of running.values()) expect(await one.stop('SIGTERM')).toMatchObject({ code: 0, stderr: '' });
  });
});

/** Runs the script of Google's build in a function's directory; returns how Node then uses the compiled code. */
async function compileAsGoogle(directory: string): Promise<string> {
  const path = `${dirname(process.execPath)}:${process.env.PATH}`;
  const { stdout, stderr } = await run('npm', ['run', '--silent', 'gcp-build'], {
    cwd: directory,
    env: { PATH: path },
  });
  expect(stdout + stderr).toBe('the function is compiled\n');
  const env = {
    NODE_COMPILE_CACHE: '.compile-cache',
    NODE_DEBUG_NATIVE: 'COMPILE_CACHE',
    NODE_OPTIONS: '--max-semi-space-size=8 --max-old-space-size=256',
  };
  const loaded = await run(process.execPath, ['--eval', "require('./index.js'); process.exit()"], {
    cwd: directory,
    env,
  });
  return loaded.stdout + loaded.stderr;
}

/**
 * Does with archives what Cloud Build does, each in `<parent>/<name>`: unpacks it and installs what the lock file names, for
 * production. Lock files are the same in all, so one installation is copied to the others. `parent` lies outside the
 * repository, so that nothing of its `node_modules` is found. Returns the directories.
 */
async function installFunctions(built: readonly BuiltFunction[], parent: string): Promise<string[]> {
  const directories = await Promise.all(built.map((one) => unpackInto(join(parent, one.name), one)));
  const [first = '', ...others] = directories;
  const options = ['--omit=dev', '--prefer-offline', '--no-audit', '--no-fund'];
  const { code, stderr } = await run('npm', ['ci', ...options], { cwd: first });
  if (code !== 0) throw new Error(`npm ci in ${first} ended with ${code}: ${stderr}`);
  for (const other of others) {
    const lockFiles = [first, other].map((directory) => readFile(join(directory, 'package-lock.json'), 'utf8'));
    expect(new Set(await Promise.all(lockFiles)).size).toBe(1);
    await cp(join(first, 'node_modules'), join(other, 'node_modules'), { recursive: true, verbatimSymlinks: true });
  }
  return directories;
}

async function unpackInto(directory: string, built: BuiltFunction): Promise<string> {
  await mkdir(directory, { recursive: true });
  for (const [file, content] of Object.entries(await unpack(built))) await writeFile(join(directory, file), content);
  return directory;
}
