import { randomUUID } from 'node:crypto';
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { type ProgramOptions, type Running, startProgram } from '../../tools/program.ts';
import { describeWithFirestore } from '../support/emulators/withFirestore.ts';
import { organisation, person } from '../support/fixtures/organisations.ts';
import { peopleOf, sampleOrganisation } from '../support/fixtures/sampleOrganisation.ts';
import { expectError, exportFrom, importInto, parseOk, post, removeOtpEmail } from '../support/http/wire.ts';
import type { Instance } from '../support/instances/deployments.ts';
import { newServiceUser, newToken } from '../support/instances/tokens.ts';
import { identity, identityJson, identityProgram } from '../support/processes/programs.ts';
import { type TemporaryDirectory, temporaryDirectory } from '../support/processes/temporaryDirectory.ts';

const token = /^idpat_[\w-]{51}$/;
const initialised = z.strictObject({
  orgId: z.string().regex(/^\d{18}$/),
  userId: z.string().regex(/^\d{18}$/),
  tokenId: z.string().regex(/^[0-9a-f]{32}$/),
  token: z.string().regex(token),
  expiresAt: z.iso.datetime(),
});

async function init(database: readonly string[], ...more: string[]) {
  return initialised.parse(await identityJson(['init', ...more, ...database]));
}

function daysFromNow(date: string): number {
  return (Date.parse(date) - Date.now()) / 86_400_000;
}

async function serve(
  database: readonly string[],
  more: readonly string[] = [],
  env: ProgramOptions['env'] = {},
): Promise<Running> {
  const [command, script] = identityProgram;
  const args = [script, 'serve', '--port', '0', ...database, ...more];
  return startProgram(command, args, /^listening on (http:\/\/127\.0\.0\.1:\d+)\n/, { env });
}

function describeCommand(newDatabase: () => Promise<readonly string[]>): void {
  let database: readonly string[] = [];
  describe('init', () => {
    beforeEach(async () => {
      database = await newDatabase();
    });

    it('makes an organisation, a service user and a token for 30 days', async () => {
      const made = await init(database);
      expect(daysFromNow(made.expiresAt)).toBeCloseTo(30, 1);
    });

    it('takes the name of the instance and the lifetime of the token', async () => {
      const made = await init(database, '--name', 'north', '--expires', '12h');
      expect(daysFromNow(made.expiresAt)).toBeCloseTo(0.5, 1);
      const running = await serve(database);
      const instance = { url: running.ready[1] ?? '', token: made.token };
      const { orgs, manifest } = await exportFrom({ ...instance, database });
      await running.stop();
      expect(manifest.instance).toBe('north');
      expect(orgs).toMatchObject([
        { orgId: made.orgId, org: { name: 'north' }, machineUsers: [{ userId: made.userId }] },
      ]);
    });

    it('is refused the second time', async () => {
      await init(database);
      const { code, stdout, stderr } = await identity(['init', '--json', ...database]);
      expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
      expect(stderr).toMatch(/^identity: the instance is already initialised: .*pat create.*\n$/);
    });

    it('writes the token into a file that only its owner can read, also where there is one that others can', async () => {
      const directory = await temporaryDirectory();
      const file = join(directory.path, 'owner.pat');
      await writeFile(file, 'something longer than a token '.repeat(10), { mode: 0o644 });
      const { code, stdout } = await identity(['init', '--token-file', file, ...database]);
      expect(code).toBe(0);
      expect(stdout).toContain(`token in ${file}`);
      expect(stdout).not.toContain('idpat_');
      expect(await readFile(file, 'utf8')).toMatch(token);
      expect((await stat(file)).mode & 0o777).toBe(0o600);
      await directory.remove();
    });

    it('makes nothing where the token cannot be written', async () => {
      const { code, stderr } = await identity(['init', '--token-file', '/nonexistent/owner.pat', ...database]);
      expect(code).toBe(1);
      expect(stderr).toMatch(/^identity: ENOENT.*\/nonexistent\/owner\.pat'\n$/);
      await init(database);
    });
  });

  describe('beside a running serve', () => {
    const organisation = sampleOrganisation();
    const people = peopleOf(organisation);
    let instance: Instance = { url: '', token: '', database };
    let owner = '';
    beforeAll(async () => {
      database = await newDatabase();
      const made = await init(database);
      owner = made.userId;
      const running = await serve(database);
      instance = { url: running.ready[1] ?? '', token: made.token, database };
      await importInto(instance, { data_orgs: { orgs: [organisation] } });
      return async () => {
        const { code, stdout } = await running.stop('SIGTERM');
        expect({ code, stdout }).toEqual({ code: 0, stdout: running.ready[0] });
      };
    });

    it('pat create, list and revoke decide at once which tokens the service takes', async () => {
      const made = await newToken(database, owner);
      expect(made.token).toMatch(token);
      expect(await listOf(owner)).toContain(made.tokenId);
      await exportFrom({ ...instance, token: made.token });
      expect(await identityJson(['pat', 'revoke', made.tokenId, ...database])).toEqual({ tokenId: made.tokenId });
      expectError(await post({ ...instance, token: made.token }, 'export', { response_output: true }), 401, 16);
      expect(await listOf(owner)).not.toContain(made.tokenId);
    });

    it('pat list never shows a token', async () => {
      await newToken(database, owner);
      const { stdout } = await identity(['pat', 'list', '--user', owner, '--json', ...database]);
      expect(stdout).toContain('tokenId');
      expect(stdout).not.toContain('idpat_');
    });

    it('otp-email enable gives a person the factor, once', async () => {
      const enable = ['otp-email', 'enable', people.owner, ...database];
      expect(await identityJson(enable)).toEqual({ userId: people.owner, sequence: '2' });
      const { code, stderr } = await identity(enable);
      expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining('already set up') });
      parseOk(await removeOtpEmail(instance, people.owner));
      expect(await identityJson(enable)).toEqual({ userId: people.owner, sequence: '4' });
    });

    it('service-user create and delete make a user and take it away with its tokens', async () => {
      const { userId, token } = await newServiceUser(database, 'temporary');
      expectError(await post({ ...instance, token }, 'export', { response_output: true }), 403, 7);
      const taken = await identity(['service-user', 'create', 'temporary', ...database]);
      expect(taken).toMatchObject({
        code: 1,
        stderr: 'identity: user name temporary is already in use: choose another one\n',
      });
      expect(await identityJson(['service-user', 'delete', userId, ...database])).toEqual({ userId });
      expectError(await post({ ...instance, token }, 'export', { response_output: true }), 401, 16);
      await newServiceUser(database, 'temporary');
    });

    it('service-user create --org makes it in that organisation, and delete refuses people', async () => {
      const args = ['service-user', 'create', '--org', organisation.orgId, 'local-robot', ...database];
      const { userId } = z.strictObject({ userId: z.string() }).parse(await identityJson(args));
      const { orgs } = await exportFrom(instance, { org_ids: [organisation.orgId] });
      expect(JSON.stringify(orgs)).toContain(userId);
      const refused = await identity(['service-user', 'delete', people.ada, ...database]);
      expect(refused).toMatchObject({
        code: 1,
        stderr: `identity: user ${people.ada} is a person: specify a service user\n`,
      });
    });

    it('member add and remove decide at once what a user may do', async () => {
      const { userId, token } = await newServiceUser(database, 'manager');
      const role = ['--user', userId, '--role', 'IAM_USER_MANAGER', ...database];
      expectError(await removeOtpEmail(instance, people.ada, token), 403, 7);
      expect(await identityJson(['member', 'add', ...role])).toEqual({ userId, role: 'IAM_USER_MANAGER' });
      parseOk(await removeOtpEmail(instance, people.ada, token));
      await identityJson(['member', 'remove', ...role]);
      expectError(await removeOtpEmail(instance, people.ben, token), 403, 7);
      const onOrganisation = ['--user', userId, '--role', 'ORG_OWNER', '--org', organisation.orgId, ...database];
      await identityJson(['member', 'add', ...onOrganisation]);
      parseOk(await removeOtpEmail(instance, people.ben, token));
    });

    it('commands and requests work at the same time', async () => {
      const commands = Array.from({ length: 4 }, (_, index) => newServiceUser(database, `parallel-${index}`));
      const requests = Array.from({ length: 10 }, () =>
        importInto(instance, { data_orgs: { orgs: [sampleOrganisation()] } }),
      );
      const [users, reports] = await Promise.all([Promise.all(commands), Promise.all(requests)]);
      expect(new Set(users.map(({ userId }) => userId)).size).toBe(4);
      for (const { summary } of reports) expect(summary.created).toMatchObject({ org: 1, humanUsers: 4 });
    });

    it.each([
      [['pat', 'create', '--user', 'nobody'], 'user nobody not found'],
      [['pat', 'list', '--user', 'nobody'], 'user nobody not found'],
      [['pat', 'revoke', 'nothing'], 'token nothing not found'],
      [['otp-email', 'enable', 'nobody'], 'user nobody not found'],
      [['service-user', 'create', '--org', 'nowhere', 'x'], 'organisation nowhere not found'],
      [['service-user', 'delete', 'nobody'], 'user nobody not found'],
      [['member', 'add', '--user', 'nobody', '--role', 'IAM_OWNER'], 'user nobody not found'],
      [['member', 'add', '--user', people.ada, '--role', 'ORG_OWNER', '--org', '99'], 'organisation 99 not found'],
    ])('%j says that %s', async (args, message) => {
      const { code, stdout, stderr } = await identity([...args, '--json', ...database]);
      expect({ code, stdout, stderr }).toEqual({ code: 1, stdout: '', stderr: `identity: ${message}\n` });
    });

    it('an unknown role is answered with those that there are', async () => {
      const { stderr } = await identity(['member', 'add', '--user', owner, '--role', 'IAM_QUEEN', ...database]);
      expect(stderr).toMatch(/^identity: invalid role IAM_QUEEN for the instance: choose one of IAM_OWNER, .*\n$/);
    });

    async function listOf(userId: string): Promise<string[]> {
      const list = z.strictObject({
        tokens: z.array(
          z.strictObject({ tokenId: z.string(), createdAt: z.iso.datetime(), expiresAt: z.iso.datetime() }),
        ),
      });
      const { tokens } = list.parse(await identityJson(['pat', 'list', '--user', userId, ...database]));
      return tokens.map(({ tokenId }) => tokenId);
    }
  });
}

describe('identity --data', () => {
  const directories: TemporaryDirectory[] = [];
  afterAll(async () => {
    for (const directory of directories) await directory.remove();
  });
  describeCommand(async () => {
    const directory = await temporaryDirectory();
    directories.push(directory);
    return ['--data', directory.path];
  });
});

describeWithFirestore('identity --firestore', () => {
  describeCommand(async () => ['--firestore', `cli-${randomUUID()}`]);
});

describe('identity serve', () => {
  it.each(['SIGTERM', 'SIGINT'] as const)('ends with exit code 0 at %s', async (signal) => {
    const { path, remove } = await temporaryDirectory();
    await init(['--data', path]);
    const running = await serve(['--data', path]);
    const { code, stderr } = await running.stop(signal);
    expect({ code, stderr }).toEqual({ code: 0, stderr: expect.not.stringContaining('Error') });
    await remove();
  });

  it.each([
    [{ BCRYPT_COST: '10' }, /^\$2b\$10\$/],
    [{ PASSWORD_HASH: 'argon2id' }, /^\$argon2id\$/],
  ])('hashes clear passwords with %j, and ends while workers are idle', async (env, format) => {
    const { path, remove } = await temporaryDirectory();
    const { token } = await init(['--data', path]);
    const running = await serve(['--data', path], [], env);
    const instance = { url: running.ready[1] ?? '', token, database: undefined };
    const people = organisation('O', { humanUsers: [person('A', { password: 'Password1!' })] });
    await importInto(instance, { timeout: '1m', data_orgs: { orgs: [people] } });
    const { orgs } = await exportFrom(instance, { org_ids: ['O'], with_passwords: true });
    const user = { hashedPassword: { value: expect.stringMatching(format) } };
    expect(orgs).toMatchObject([{ humanUsers: [{ user }] }]);
    expect(await running.stop('SIGTERM')).toMatchObject({ code: 0 });
    await remove();
  });

  it('says in one line why it cannot start', async () => {
    const { path, remove } = await temporaryDirectory();
    const running = await serve(['--data', path]);
    const port = new URL(running.ready[1] ?? '').port;
    const taken = await identity(['serve', '--data', path, '--port', port]);
    expect(taken).toMatchObject({ code: 1, stdout: '', stderr: expect.stringMatching(/^identity: .*EADDRINUSE.*\n$/) });
    const configured = await identity(['serve', '--data', path], { env: { LOG_LEVEL: 'loud' } });
    expect(configured).toMatchObject({ code: 1, stderr: expect.stringMatching(/LOG_LEVEL must be one of/) });
    expect(configured.stderr).not.toMatch(/^\s+at /m);
    await running.stop();
    await remove();
  });
});

describe('a wrong command line', () => {
  it.each([
    [['nonsense'], /^identity: unknown command nonsense: .*\n$/],
    [['pat'], /^identity: unknown command pat: .*\n$/],
    [['pat', 'make', '--data', 'x'], /^identity: unknown command pat make --data x: .*\n$/],
    [['init'], /^identity: specify either --data DIR .* or --firestore .*\n$/],
    [['init', '--data', 'x', '--firestore', 'y'], /^identity: specify either --data DIR .*\n$/],
    [['init', '--data', ''], /^identity: empty --data: specify a directory\n$/],
    [
      ['init', '--firestore', 'a/b/c'],
      /^identity: invalid --firestore a\/b\/c: specify PROJECT or PROJECT\/DATABASE\n$/,
    ],
    [['init', '--data'], /^identity: .*--data.*; usage: identity init .*\n$/],
    [['init', '--colour', 'red'], /^identity: Unknown option '--colour'.*; usage: identity init .*\n$/],
    [['otp-email', 'enable', '--data', 'x'], /^identity: usage: identity otp-email enable USER_ID\n$/],
    [['otp-email', 'enable', '1', '2', '--data', 'x'], /^identity: usage: identity otp-email enable USER_ID\n$/],
  ])('%j is answered with one line, exit code 1 and no change', async (args, message) => {
    const { path, remove } = await temporaryDirectory();
    const { code, stdout, stderr } = await identity(args, { cwd: path });
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(message);
    await remove();
  });

  it.each([
    [['pat', 'create'], 'missing option --user'],
    [['member', 'add', '--user', '1'], 'missing option --role'],
    [['init', '--expires', '30'], 'invalid --expires 30: specify a lifetime such as 30d, 12h or 45m, at most 3660d'],
    [['init', '--expires', '0d'], 'invalid --expires 0d: specify a lifetime such as 30d, 12h or 45m, at most 3660d'],
    [
      ['init', '--expires', '4000d'],
      'invalid --expires 4000d: specify a lifetime such as 30d, 12h or 45m, at most 3660d',
    ],
    [['serve', '--port', '65536'], 'invalid --port 65536: specify a number from 0 to 65535 (0 picks a free port)'],
    [['serve', '--port', 'http'], 'invalid --port http: specify a number from 0 to 65535 (0 picks a free port)'],
  ])('%j is answered with: %s', async (args, message) => {
    const { path, remove } = await temporaryDirectory();
    if (args[0] !== 'init') await init(['--data', path]);
    const { code, stdout, stderr } = await identity([...args, '--data', path]);
    expect({ code, stdout, stderr }).toEqual({ code: 1, stdout: '', stderr: `identity: ${message}\n` });
    await remove();
  });

  it.each([
    ['pat', 'list', '--user', '1'],
    ['member', 'add', '--user', '1', '--role', 'IAM_OWNER'],
    ['service-user', 'create', 'robot'],
    ['otp-email', 'enable', '1'],
  ])('%s %s refuses a directory without an instance, and makes none there', async (...args) => {
    const { path, remove } = await temporaryDirectory();
    const mistyped = join(path, 'mistyped');
    const { code, stdout, stderr } = await identity([...args, '--data', mistyped]);
    const message = `identity: no instance in ${mistyped}: create one with identity init\n`;
    expect({ code, stdout, stderr }).toEqual({ code: 1, stdout: '', stderr: message });
    expect(await readdir(path)).toEqual([]);
    await remove();
  });

  it.each([[[]], [['--help']], [['-h']]])('%j prints every command, exit code 0', async (args) => {
    const { code, stdout, stderr } = await identity(args);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    for (const name of ['init', 'serve', 'otp-email enable', 'pat create', 'member add', 'service-user delete']) {
      expect(stdout).toContain(`\n  ${name} `);
    }
  });

  it('--help after a command prints that command alone', async () => {
    const { code, stdout } = await identity(['pat', 'create', '--help']);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^identity pat create --user ID \[--expires 30d\]\n {2}create .*\n$/);
  });
});
