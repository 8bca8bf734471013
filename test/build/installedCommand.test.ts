import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import packageJson from '../../package.json' with { type: 'json' };
import { buildPackage, packageName } from '../../tools/build/buildPackage.ts';
import { readLockFile } from '../../tools/build/deployedPackage.ts';
import { type ProgramOptions, type Running, root, run, startProgram } from '../../tools/program.ts';
import { emulatorMasterKey } from '../support/emulators/emulatorDatabase.ts';
import { describeWithFirestore } from '../support/emulators/withFirestore.ts';
import { organisation, person } from '../support/fixtures/organisations.ts';
import { exportFrom, importInto, parseOk, removeOtpEmail, send } from '../support/http/wire.ts';
import { oldNode } from '../support/processes/oldNode.ts';
import { temporaryDirectory } from '../support/processes/temporaryDirectory.ts';

const MAX_PACKED_BYTES = 5_000_000;
const packed = z.tuple([
  z.object({ filename: z.string(), size: z.number(), files: z.array(z.object({ path: z.string() })) }),
]);
const initialised = z.object({ token: z.string(), orgId: z.string() });

const resources = new AsyncDisposableStack();
afterAll(() => resources.disposeAsync());
let directory = '';
let pack: z.output<typeof packed>[0];

/** Packs and installs the command as a user does, without the network and in a prefix of its own. */
beforeAll(async () => {
  directory = resources.adopt(await temporaryDirectory(), (made) => made.remove()).path;
  const built = await buildPackage(await readLockFile(), join(directory, 'package'));
  const npm = async (...args: readonly string[]) => {
    const options = { cwd: directory, env: { npm_config_cache: join(directory, 'cache') } };
    const { code, stdout, stderr } = await run('npm', [...args, '--offline'], options);
    if (code !== 0) throw new Error(`npm ${args.join(' ')} failed: ${stderr}`);
    return stdout;
  };
  [pack] = packed.parse(JSON.parse(await npm('pack', built.directory, '--json')));
  await npm('install', '--global', '--prefix', join(directory, 'prefix'), pack.filename);
}, 120_000);

const program = () => join(directory, 'prefix', 'bin', 'identity');
const identity = (args: readonly string[], env: ProgramOptions['env'] = {}) =>
  run(program(), args, { cwd: directory, env });

async function init(database: readonly string[], env: ProgramOptions['env'] = {}) {
  const { code, stdout, stderr } = await identity(['init', '--json', ...database], env);
  expect({ code, stderr: stderr.replace(/^\{.*\n/gm, '') }).toEqual({ code: 0, stderr: '' });
  return initialised.parse(JSON.parse(stdout));
}

it('has the heap of the scripts in a clone', async () => {
  const options = /--max-\S+/g;
  const bin = await readFile(join(root, 'cli', 'bin.cjs'), 'utf8');
  const needed = (bin.match(/'--max-[^']+'/g) ?? []).map((option) => option.slice(1, -1));
  expect(needed).toHaveLength(2);
  for (const script of ['start', 'identity'] as const)
    expect(packageJson.scripts[script].match(options)).toEqual(needed);
});

/** Initialises and serves an instance. */
async function startInstance(name: string) {
  const database = ['--data', join(directory, name)];
  const { token } = await init(database);
  const args = ['serve', '--port', '0', '--docs', ...database];
  const options = { cwd: directory, env: { METRICS_PORT: '0', LOG_LEVEL: 'error' } };
  const running = await startProgram(program(), args, /^listening on (\S+)\nmetrics at (\S+)\n/, options);
  resources.adopt<Running>(running, async (started) => void (await started.stop()));
  const [, url = '', metricsUrl = ''] = running.ready;
  return { running, metricsUrl, instance: { url, token, database: undefined } };
}

describe('the package', () => {
  it(`is packed in less than ${MAX_PACKED_BYTES} bytes, and holds the bundle and the licences only`, () => {
    process.stdout.write(`${pack.filename} has ${pack.size} bytes\n`);
    expect(pack.size).toBeLessThan(MAX_PACKED_BYTES);
    const others = pack.files.map(({ path }) => path).filter((path) => !/^cli\/[^/]+\.js$/.test(path));
    expect(others.toSorted()).toEqual([
      'CHANGELOG.md',
      'LICENSE',
      'README.md',
      'THIRD-PARTY-NOTICES.txt',
      'cli/bin.cjs',
      'cli/swagger-ui/swagger-ui-bundle.js',
      'cli/swagger-ui/swagger-ui.css',
      'package.json',
      'tools/run.cjs',
    ]);
  });

  it('has neither dependencies nor scripts, so that npm only unpacks it', async () => {
    const modules = join(directory, 'prefix', 'lib', 'node_modules');
    expect(await readdir(modules, { recursive: true })).not.toContain(join(packageName, 'node_modules'));
    const text = await readFile(join(modules, packageName, 'package.json'), 'utf8');
    const { version, engines } = packageJson;
    const { description, license, ...manifest } = z.looseObject({}).parse(JSON.parse(text));
    const bin = { identity: 'cli/bin.cjs' };
    expect(manifest).toEqual({ name: packageName, version, type: 'module', engines, bin });
  });

  it('names the licences of what is bundled', async () => {
    const notices = await readFile(join(directory, 'package', 'THIRD-PARTY-NOTICES.txt'), 'utf8');
    for (const name of ['commander', 'hono', 'swagger-ui-dist', 'bcryptjs', 'zod', 'prom-client'])
      expect(notices).toMatch(new RegExp(`^${name} \\d`, 'm'));
  });
});

describe('the installed command', () => {
  it('prints its version and commit, and its help without delay', async () => {
    const { stdout: commit } = await run('git', ['rev-parse', '--short=12', 'HEAD']);
    const stdout = expect.stringMatching(`^${packageJson.version} \\(${commit.trim()}(-dirty)?\\)\n$`);
    expect(await identity(['--version'])).toEqual({ code: 0, stdout, stderr: '' });
    const times: number[] = [];
    while (times.length < 5) {
      const begin = performance.now();
      const help = await identity(['--help'], { NODE_COMPILE_CACHE: undefined });
      expect(help).toMatchObject({ code: 0, stdout: expect.stringContaining('pat create') });
      times.push(Math.round(performance.now() - begin));
    }
    process.stdout.write(`identity --help took ${times.toSorted((a, b) => a - b).join(', ')} ms\n`);
  });

  it('rejects a misspelt command and suggests the known one', async () => {
    expect(await identity(['sevre'])).toEqual({
      code: 64,
      stdout: '',
      stderr: "identity: unknown command 'sevre': did you mean serve?\n",
    });
  });

  it('rejects a Node that is too old', async ({ skip }) => {
    const [node, version] = oldNode() ?? skip();
    const ended = await run(node, [program(), '--version']);
    expect(ended).toEqual({ code: 1, stdout: '', stderr: `Node ${version} is too old: install Node 24.7 or later\n` });
  });

  it('serves two instances, and migrates an organisation with its passwords between them', async () => {
    const { instance: source, running: sourceRunning } = await startInstance('source');
    const { instance: target, metricsUrl, running } = await startInstance('target');
    const ada = { ...person('ada', { password: 'Password1!' }), otpEmail: true };
    const people = organisation('O', { humanUsers: [ada] });
    await importInto(source, { timeout: '1m', data_orgs: { orgs: [people] } });
    const selection = { org_ids: ['O'], with_passwords: true, with_otp: true };
    const exported = await exportFrom(source, selection);
    expect(JSON.stringify(exported.orgs)).toMatch(/"\$2b\$12\$[^"]+"/);
    const [from, to] = [join(directory, 'source.pat'), join(directory, 'target.pat')];
    await writeFile(from, source.token, { mode: 0o600 });
    await writeFile(to, target.token, { mode: 0o600 });
    const places = ['--from', source.url, '--from-token-file', from, '--to', target.url, '--to-token-file', to];
    const report = join(directory, 'report.html');
    const migrated = await identity(['migrate', ...places, '--with', 'passwords,otp', '--report', report, '--yes']);
    expect(migrated.code, migrated.stderr).toBe(0);
    expect(migrated.stdout).toContain(
      '1 of 1 person with a password has the same password hash, second factors and state on both sides',
    );
    expect(await readFile(report, 'utf8')).toContain('</html>');
    expect((await exportFrom(target, selection)).orgs).toEqual(exported.orgs);
    const call = { method: 'POST', path: '/zitadel.user.v2.UserService/ListAuthenticationMethodTypes' } as const;
    const headers = { authorization: `Bearer ${target.token}`, 'content-type': 'application/json' };
    const listed = await send(target, { ...call, headers, body: JSON.stringify({ userId: 'ada' }) });
    expect(JSON.stringify(parseOk(listed))).toContain('AUTHENTICATION_METHOD_TYPE_OTP_EMAIL');
    parseOk(await removeOtpEmail(target, 'ada'));
    expect((await send(target, { method: 'GET', path: '/docs/swagger-ui-bundle.js' })).status).toBe(200);
    expect(await (await fetch(metricsUrl)).text()).toContain('identity_documents_written_total');
    expect(await running.stop()).toMatchObject({ code: 0, stderr: '' });
    expect(await sourceRunning.stop('SIGKILL')).toMatchObject({ code: null });
    await expect(fetch(source.url)).rejects.toThrow('fetch failed');
  });
});

describeWithFirestore('the installed command on Firestore', () => {
  it('creates an instance, and lists its organisations', async () => {
    const env = { IDENTITY_MASTER_KEY: emulatorMasterKey };
    const database = ['--firestore', 'installed-command'];
    const { orgId } = await init(database, env);
    const { code, stdout } = await identity(['org', 'list', ...database], env);
    expect({ code, stdout }).toEqual({ code: 0, stdout: `${orgId}\tORG_STATE_ACTIVE\tinstalled-command\n` });
  });
});
