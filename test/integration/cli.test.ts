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

const restricted = z.strictObject({ tokenId: z.string(), token: z.string(), expiresAt: z.string() });
const text = z.string();
const listed = {
  organisations: z.strictObject({
    organisations: z.array(z.strictObject({ orgId: text, name: text, state: text })),
  }),
  users: z.strictObject({
    users: z.array(z.strictObject({ userId: text, orgId: text, userName: text, kind: text, state: text })),
  }),
  members: z.strictObject({
    members: z.array(z.strictObject({ userId: text, orgId: text.optional(), roles: z.array(text) })),
  }),
};

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

    it.each(['', ' ', 'x'.repeat(201), 'a\nb', 'a\u001b[2Jb', 'a\u0085b'])(
      'refuses the name %j, which no import would take',
      async (name) => {
        const { code, stderr } = await identity(['init', '--name', name, ...database]);
        expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringMatching(/^identity: invalid name: .*\n$/) });
        await init(database);
      },
    );

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

    it('pat create --only and --org make a token that can do no more than that', async () => {
      const { orgId } = organisation;
      const create = ['pat', 'create', '--user', owner, ...database];
      const newRestricted = async (...args: string[]) =>
        restricted.parse(await identityJson([...create, ...args])).token;
      const otpEmail = await newRestricted('--only', 'otp-email', '--org', orgId);
      const exporting = await newRestricted('--only', 'export', '--org', orgId, '--org', 'other');
      const body = { response_output: true, org_ids: [orgId] };
      expectError(await post({ ...instance, token: otpEmail }, 'export', body), 403, 7);
      expectError(await post({ ...instance, token: otpEmail }, 'import', { data_orgs: { orgs: [] } }), 403, 7);
      expectError(await removeOtpEmail(instance, people.ada, exporting), 403, 7);
      expectError(await post({ ...instance, token: exporting }, 'import', { data_orgs: { orgs: [] } }), 403, 7);
      expectError(await post({ ...instance, token: exporting }, 'export', { response_output: true }), 403, 7);
      const beyond = { response_output: true, org_ids: [orgId, 'third'] };
      expectError(await post({ ...instance, token: exporting }, 'export', beyond), 403, 7);
      const { orgs } = await exportFrom({ ...instance, token: exporting }, { org_ids: [orgId] });
      expect(orgs).toMatchObject([{ orgId }]);
      const elsewhere = await newRestricted('--org', 'other');
      expectError(await removeOtpEmail(instance, people.owner, elsewhere), 403, 7);
      expectError(await removeOtpEmail(instance, 'nobody', elsewhere), 403, 7);
      const { stdout } = await identity(['pat', 'list', '--user', owner, ...database]);
      expect(stdout).toMatch(new RegExp(`\\texport\\t${orgId},other\\n`));
    });

    it('MAX_TOKEN_DAYS sets the longest lifetime of a token, and shortens the default', async () => {
      const create = ['pat', 'create', '--user', owner, ...database];
      const env = { MAX_TOKEN_DAYS: '7' };
      const { expiresAt } = restricted.parse(await identityJson(create, { env }));
      expect(daysFromNow(expiresAt)).toBeCloseTo(7, 1);
      const { code, stderr } = await identity([...create, '--expires', '8d'], { env });
      expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining('at most 7d (MAX_TOKEN_DAYS)') });
    });

    it("a person's token cannot export or import, even if the person is IAM_OWNER", async () => {
      await identityJson(['member', 'add', '--user', people.ben, '--role', 'IAM_OWNER', ...database]);
      const { token } = await newToken(database, people.ben);
      for (const [operation, body] of [
        ['export', { response_output: true }],
        ['import', { data_orgs: { orgs: [] } }],
      ] as const) {
        const answer = await post({ ...instance, token }, operation, body);
        expect(expectError(answer, 403, 7).message).toContain("the token is a person's");
      }
      await identityJson(['member', 'remove', '--user', people.ben, '--role', 'IAM_OWNER', ...database]);
    });

    it('pat list never shows a token', async () => {
      await newToken(database, owner);
      const { stdout } = await identity(['pat', 'list', '--user', owner, '--json', ...database]);
      expect(stdout).toContain('tokenId');
      expect(stdout).not.toContain('idpat_');
    });

    it('pat revoke --all revokes all tokens of a user at once, and only those', async () => {
      const { userId, token } = await newServiceUser(database, 'compromised');
      const second = await newToken(database, userId);
      const revoked = await identityJson(['pat', 'revoke', '--all', '--user', userId, ...database]);
      expect(revoked).toEqual({ userId, revoked: 2 });
      for (const lost of [token, second.token])
        expectError(await post({ ...instance, token: lost }, 'export', { response_output: true }), 401, 16);
      expect(await listOf(userId)).toEqual([]);
      await exportFrom(instance);
    });

    it('user lock suspends the tokens of a user, and user unlock ends that', async () => {
      const { userId, token } = await newServiceUser(database, 'suspicious');
      const request = () => post({ ...instance, token }, 'export', { response_output: true });
      for (const change of ['lock', 'lock'])
        expect(await identityJson(['user', change, userId, ...database])).toEqual({ userId });
      expectError(await request(), 401, 16);
      expect(await statesOf(userId)).toEqual(['USER_STATE_LOCKED']);
      await identityJson(['user', 'unlock', userId, ...database]);
      expectError(await request(), 403, 7);
      expect(await statesOf(userId)).toEqual(['USER_STATE_ACTIVE']);
    });

    it('the last IAM_OWNER whose tokens are valid stays, unless --force is given', async () => {
      const { userId, token } = await newServiceUser(database, 'second-owner');
      const member = ['--user', userId, '--role', 'IAM_OWNER', ...database];
      await identityJson(['member', 'add', ...member]);
      await identityJson(['user', 'lock', owner, ...database]);
      const refused = {
        code: 1,
        stderr: `identity: user ${userId} is the last IAM_OWNER with valid tokens: make another one with \`identity member add\`, or add --force\n`,
      };
      expect(await identity(['member', 'remove', ...member])).toMatchObject(refused);
      expect(await identity(['user', 'lock', userId, ...database])).toMatchObject(refused);
      expect(await identity(['service-user', 'delete', userId, ...database])).toMatchObject(refused);
      await exportFrom({ ...instance, token });
      await identityJson(['member', 'remove', ...member, '--force']);
      expectError(await post({ ...instance, token }, 'export', { response_output: true }), 403, 7);
      await identityJson(['user', 'unlock', owner, ...database]);
      await identityJson(['service-user', 'delete', userId, ...database]);
    });

    it('org, user and member list show what there is, of the instance or of one organisation', async () => {
      const { orgId } = organisation;
      const { organisations } = listed.organisations.parse(await identityJson(['org', 'list', ...database]));
      expect(organisations).toContainEqual({ orgId, name: organisation.org.name, state: 'ORG_STATE_ACTIVE' });
      const ofOne = listed.users.parse(await identityJson(['user', 'list', '--org', orgId, ...database])).users;
      expect(ofOne.filter(({ kind }) => kind === 'person')).toHaveLength(organisation.humanUsers.length);
      expect(new Set(ofOne.map((user) => user.orgId))).toEqual(new Set([orgId]));
      const { users } = listed.users.parse(await identityJson(['user', 'list', ...database]));
      expect(users).toEqual(expect.arrayContaining(ofOne));
      expect(users.map(({ userId }) => userId)).toContain(owner);
      const { members } = listed.members.parse(await identityJson(['member', 'list', ...database]));
      expect(members).toContainEqual({ userId: owner, roles: ['IAM_OWNER'] });
      const { stdout } = await identity(['member', 'list', '--org', 'nowhere', ...database]);
      expect(stdout).toBe('no members\n');
      const text = await identity(['org', 'list', ...database]);
      expect(text.stdout).toContain(`${orgId}\tORG_STATE_ACTIVE\t${organisation.org.name}\n`);
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

    it.each(['', ' ', 'x'.repeat(201), 'a\nb', 'a\u001b[2Jb', 'a\u0085b'])(
      'service-user create refuses the name %j, which no import would take',
      async (name) => {
        const { code, stderr } = await identity(['service-user', 'create', name, ...database]);
        expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringMatching(/^identity: invalid name: .*\n$/) });
      },
    );

    it.each([
      [['pat', 'create', '--user', 'nobody'], 'user nobody not found'],
      [['pat', 'list', '--user', 'nobody'], 'user nobody not found'],
      [['pat', 'revoke', 'nothing'], 'token nothing not found'],
      [['pat', 'revoke', '--all', '--user', 'nobody'], 'user nobody not found'],
      [['user', 'lock', 'nobody'], 'user nobody not found'],
      [['user', 'lock', people.inactive], `cannot lock user ${people.inactive}, whose state is USER_STATE_INACTIVE`],
      [
        ['user', 'unlock', people.inactive],
        `cannot unlock user ${people.inactive}, whose state is USER_STATE_INACTIVE`,
      ],
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

    async function statesOf(userId: string): Promise<string[]> {
      const { users } = listed.users.parse(await identityJson(['user', 'list', ...database]));
      return users.filter((user) => user.userId === userId).map(({ state }) => state);
    }

    async function listOf(userId: string): Promise<string[]> {
      const list = z.strictObject({
        tokens: z.array(
          z.looseObject({ tokenId: z.string(), createdAt: z.iso.datetime(), expiresAt: z.iso.datetime() }),
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
    [['pat', 'revoke'], 'specify either TOKEN_ID or --all --user ID'],
    [['pat', 'revoke', '--all'], 'specify either TOKEN_ID or --all --user ID'],
    [['pat', 'revoke', '--user', '1'], 'specify either TOKEN_ID or --all --user ID'],
    [['pat', 'revoke', '--all', '--user', '1', 'abc'], 'specify either TOKEN_ID or --all --user ID'],
    [
      ['init', '--expires', '30'],
      'invalid --expires 30: specify a lifetime such as 30d, 12h or 45m, at most 90d (MAX_TOKEN_DAYS)',
    ],
    [
      ['init', '--expires', '0d'],
      'invalid --expires 0d: specify a lifetime such as 30d, 12h or 45m, at most 90d (MAX_TOKEN_DAYS)',
    ],
    [
      ['init', '--expires', '91d'],
      'invalid --expires 91d: specify a lifetime such as 30d, 12h or 45m, at most 90d (MAX_TOKEN_DAYS)',
    ],
    [['pat', 'create', '--user', '1', '--only', 'all'], 'invalid --only all: choose one of export, import, otp-email'],
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
    expect(stdout).toMatch(/^identity pat create --user ID \[--expires 30d\] .*\n {2}create .*\n$/);
  });
});
