import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { call, calling, identity, identityJson } from '../../support/command.ts';
import { organisation as emptyOrganisation, person } from '../../support/fixtures/organisations.ts';
import { peopleOf, sampleOrganisation } from '../../support/fixtures/sampleOrganisation.ts';
import { expectError, exportFrom, importInto, parseOk, post, removeOtpEmail } from '../../support/http/wire.ts';
import { daysFromNow, notServed, serveSample, tokenPattern } from '../../support/instances/commandInstance.ts';
import { newServiceUser, newToken } from '../../support/instances/tokens.ts';
import { testDirectory } from '../../support/places/servedPlace.ts';
import { identityProcess } from '../../support/processes/programs.ts';
import { temporaryDirectory } from '../../support/processes/temporaryDirectory.ts';

const restricted = z.strictObject({ tokenId: z.string(), token: z.string(), expiresAt: z.string() });
const text = z.string();
const listed = {
  organisations: z.strictObject({ organisations: z.array(z.strictObject({ orgId: text, name: text, state: text })) }),
  users: z.strictObject({
    users: z.array(
      z.strictObject({
        userId: text,
        orgId: text,
        userName: text,
        kind: text,
        state: text,
        email: text.optional(),
        factors: z.array(text),
      }),
    ),
  }),
  members: z.strictObject({
    members: z.array(z.strictObject({ userId: text, orgId: text.optional(), roles: z.array(text) })),
  }),
};

describe('a command on accounts', () => {
  const organisation = sampleOrganisation();
  const people = peopleOf(organisation);
  let { database, instance, owner } = notServed;
  beforeAll(async () => {
    const directory = await temporaryDirectory();
    const served = await serveSample(['--data', directory.path], organisation);
    ({ database, instance, owner } = served);
    const orgs = ['A', 'B', 'C'].map((id) => emptyOrganisation(id, { humanUsers: [person(`user of ${id}`)] }));
    await importInto(instance, { data_orgs: { orgs } });
    return async () => {
      await served.stop();
      await directory.remove();
    };
  });

  it('pat create and revoke determine at once which tokens the service accepts, and pat list lists them', async () => {
    const made = await newToken(database, owner);
    expect(made.token).toMatch(tokenPattern);
    expect(await listOf(owner)).toContain(made.tokenId);
    await exportFrom({ ...instance, token: made.token });
    expect(await identityJson(['pat', 'revoke', made.tokenId, ...database])).toEqual({ tokenId: made.tokenId });
    expectError(await post({ ...instance, token: made.token }, 'export', { response_output: true }), 401, 16);
    expect(await listOf(owner)).not.toContain(made.tokenId);
  });

  it('pat create --only accepts several operations, and --token-file stores the token instead of printing it', async () => {
    const file = join(await testDirectory(), 'migration.pat');
    const args = ['--user', owner, '--token-file', file, ...database];
    const only = ['--only', 'export', '--only', 'import,export'];
    const { code, stdout, stderr } = await identity(['pat', 'create', ...args, ...only]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(new RegExp(`^token in ${file} \\(id [0-9a-f]{32}\\), valid until \\S+\n$`));
    const token = await readFile(file, 'utf8');
    await exportFrom({ ...instance, token }, { org_ids: ['A'] });
    await importInto({ ...instance, token }, { data_orgs: { orgs: [] } });
    const again = await identity(['pat', 'create', ...args]);
    expect(again).toMatchObject({ code: 64, stderr: `identity: ${file} exists: specify a new file for the token\n` });
    const { message } = expectError(await removeOtpEmail({ ...instance, token }, people.ada), 403, 7);
    expect(message).toContain('valid for export, import only: use a token that is valid for otp-email');
  });

  it('MAX_TOKEN_DAYS sets the longest lifetime of a token, and shortens the default', async () => {
    const create = ['pat', 'create', '--user', owner, ...database];
    const env = { MAX_TOKEN_DAYS: '7' };
    const { expiresAt } = restricted.parse(await identityJson(create, { env }));
    expect(daysFromNow(expiresAt)).toBeCloseTo(7, 1);
    await calling({ env })(`${create.join(' ')} --expires 8d`, 64, 'at most 7d (MAX_TOKEN_DAYS)');
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

  it('the last IAM_OWNER whose tokens are valid stays, unless --force is given', async () => {
    const { userId, token } = await newServiceUser(database, 'second-owner');
    const member = ['--user', userId, '--role', 'IAM_OWNER', ...database];
    await identityJson(['member', 'add', ...member]);
    await identityJson(['user', 'lock', owner, ...database]);
    const refused = {
      code: 1,
      stderr: `identity: user ${userId} is the last active IAM_OWNER: grant the role to another user with \`identity member add\`, or repeat the command with --force\n`,
    };
    expect(await identity(['member', 'remove', ...member])).toMatchObject(refused);
    expect(await identity(['user', 'lock', userId, ...database])).toMatchObject(refused);
    for (const call of [
      ['service-user', 'delete', userId],
      ['user', 'delete', userId, '--yes'],
    ])
      expect(await identity([...call, ...database])).toMatchObject(refused);
    await exportFrom({ ...instance, token });
    await identityJson(['member', 'remove', ...member, '--force']);
    expectError(await post({ ...instance, token }, 'export', { response_output: true }), 403, 7);
    await identityJson(['user', 'unlock', owner, ...database]);
    await identityJson(['service-user', 'delete', userId, ...database]);
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

  it('org, user and member list print the objects of the instance or of one organisation', async () => {
    const { orgId } = organisation;
    const { organisations } = listed.organisations.parse(await identityJson(['org', 'list', ...database]));
    expect(organisations).toContainEqual({ orgId, name: organisation.org.name, state: 'ORG_STATE_ACTIVE' });
    const ofOne = listed.users.parse(await identityJson(['user', 'list', '--org', orgId, ...database])).users;
    expect(ofOne.filter(({ kind }) => kind === 'person')).toHaveLength(organisation.humanUsers.length);
    expect(new Set(ofOne.map((user) => user.orgId))).toEqual(new Set([orgId]));
    const { users } = listed.users.parse(await identityJson(['user', 'list', ...database]));
    expect(users).toEqual(expect.arrayContaining(ofOne));
    const search = ['user', 'list', '--search', `ADA-${people.ada}@example`, ...database];
    expect(listed.users.parse(await identityJson(search)).users).toMatchObject([
      { userId: people.ada, email: `ada-${people.ada}@example.com`, factors: ['password', 'totp', 'otp-email'] },
    ]);
    expect(users.map(({ userId }) => userId)).toContain(owner);
    const { members } = listed.members.parse(await identityJson(['member', 'list', ...database]));
    expect(members).toContainEqual({ userId: owner, roles: ['IAM_OWNER'] });
    const ownersOrg = users.find(({ userId }) => userId === owner)?.orgId ?? '';
    const { stdout } = await identity(['member', 'list', '--org', ownersOrg, ...database]);
    expect(stdout).toBe('no members\n');
    const text = await identity(['org', 'list', ...database]);
    expect(text.stdout).toContain(`${orgId}\tORG_STATE_ACTIVE\t${organisation.org.name}\n`);
  });

  it('otp-email enable gives a person the factor, once', async () => {
    const enable = ['otp-email', 'enable', people.owner, ...database];
    expect(await identityJson(enable)).toEqual({ userId: people.owner, sequence: '2' });
    await call(enable, 1, 'already set up');
    parseOk(await removeOtpEmail(instance, people.owner));
    expect(await identityJson(enable)).toEqual({ userId: people.owner, sequence: '4' });
  });

  it('service-user create creates a user, and service-user delete deletes it with its tokens', async () => {
    const { userId, token } = await newServiceUser(database, 'temporary');
    expectError(await post({ ...instance, token }, 'export', { response_output: true }), 403, 7);
    const taken = await identity(['service-user', 'create', 'temporary', ...database]);
    expect(taken).toMatchObject({
      code: 1,
      stderr: 'identity: user name temporary is already in use: choose another name\n',
    });
    expect(await identityJson(['service-user', 'delete', userId, ...database])).toEqual({ userId });
    expectError(await post({ ...instance, token }, 'export', { response_output: true }), 401, 16);
    await newServiceUser(database, 'temporary');
  });

  it('user delete asks, and deletes a person with tokens, roles and grants', async () => {
    const projects = [{ projectId: 'U-p', project: { name: 'P' } }];
    const content = {
      humanUsers: [{ ...person('U-ann'), state: 'USER_STATE_ACTIVE' }],
      projects,
      userGrants: [{ userId: 'U-ann', projectId: 'U-p' }],
    };
    await importInto(instance, { data_orgs: { orgs: [emptyOrganisation('U', content)] } });
    const { token } = await newToken(database, 'U-ann');
    await identityJson(['member', 'add', '--user', 'U-ann', '--role', 'IAM_OWNER', ...database]);
    const call = ['user', 'delete', 'U-ann', ...database];
    const { code, stdout } = await identity(call);
    expect({ code, stdout }).toEqual({
      code: 2,
      stdout: expect.stringMatching(
        /\n {2}person U-ann \(name of U-ann\) of organisation U\n.*nothing is deleted: add --yes\n$/s,
      ),
    });
    expectError(await post({ ...instance, token }, 'export', { response_output: true }), 403, 7);
    const user = { userId: 'U-ann', userName: 'name of U-ann', kind: 'person', orgId: 'U' };
    expect(await identityJson([...call, '--yes'])).toEqual({ ...user, deleted: true });
    expectError(await post({ ...instance, token }, 'export', { response_output: true }), 401, 16);
    const { orgs } = await exportFrom(instance, { org_ids: ['U'] });
    expect(JSON.stringify(orgs)).not.toContain('U-ann');
    const { members } = listed.members.parse(await identityJson(['member', 'list', ...database]));
    expect(members.map(({ userId }) => userId)).not.toContain('U-ann');
  });

  it('user-grant list and remove show and revoke the roles of a user in a project', async () => {
    const projects = ['G-p', 'G-q'].map((projectId) => ({ projectId, project: { name: projectId } }));
    const projectRoles = [{ projectId: 'G-p', roleKey: 'r' }];
    const userGrants = [
      { userId: 'G-ann', projectId: 'G-p', roleKeys: ['r'] },
      { userId: 'G-ann', projectId: 'G-q' },
    ];
    const content = { humanUsers: [person('G-ann')], projects, projectRoles, userGrants };
    await importInto(instance, { data_orgs: { orgs: [emptyOrganisation('G', content)] } });
    const grants = [
      { userId: 'G-ann', orgId: 'G', projectId: 'G-p', roles: ['r'] },
      { userId: 'G-ann', orgId: 'G', projectId: 'G-q', roles: [] },
    ];
    const list = () => identityJson(['user-grant', 'list', '--user', 'G-ann', '--org', 'G', ...database]);
    expect(await list()).toEqual({ grants: expect.arrayContaining(grants) });
    const remove = ['user-grant', 'remove', '--user', 'G-ann', '--project', 'G-p', ...database];
    expect(await identity(remove)).toMatchObject({
      code: 2,
      stdout: expect.stringContaining('nothing is removed: add --yes'),
    });
    expect(await identityJson([...remove, '--yes'])).toEqual({ grants: grants.slice(0, 1), removed: 1 });
    expect(await list()).toEqual({ grants: grants.slice(1) });
  });

  it('service-user create --org creates the user in that organisation', async () => {
    const args = ['service-user', 'create', '--org', organisation.orgId, 'local-robot', ...database];
    const { userId } = z.strictObject({ userId: z.string() }).parse(await identityJson(args));
    const { orgs } = await exportFrom(instance, { org_ids: [organisation.orgId] });
    expect(JSON.stringify(orgs)).toContain(userId);
  });

  it('commands and requests work at the same time', async () => {
    const names = ['parallel-1', 'parallel-2'];
    const commands = names.map((name) => identityProcess(['service-user', 'create', name, ...database]));
    const requests = Array.from({ length: 10 }, () =>
      importInto(instance, { data_orgs: { orgs: [sampleOrganisation()] } }),
    );
    const [users, reports] = await Promise.all([Promise.all(commands), Promise.all(requests)]);
    expect(users).toMatchObject([{ code: 0 }, { code: 0 }]);
    expect(users[0]?.stdout).not.toBe(users[1]?.stdout);
    for (const { summary } of reports) expect(summary.created).toMatchObject({ org: 1, humanUsers: 4 });
  });

  it('org delete without --yes and a terminal lists the organisations, deletes nothing and exits with 2', async () => {
    const before = await ids();
    const { code, stdout, stderr } = await identity(['org', 'delete', 'A', 'B', ...database]);
    const trail = stderr.split('\n').filter((line) => line !== '' && !line.startsWith('{'));
    expect({ code, trail }).toEqual({ code: 2, trail: [] });
    expect(stdout).toContain('  A (Organisation A): 1 person, 0 service users\n  B (Organisation B): ');
    expect(stdout).toContain('nothing is deleted: add --yes');
    expect(await ids()).toEqual(before);
  });

  it('org delete deletes several organisations while the instance runs', async () => {
    const before = await ids();
    const deletion = await identity(['org', 'delete', 'A', 'B', 'A', '--yes', '--json', ...database]);
    expect(deletion.stderr).toMatch(/^deleting: [12] records?, done in /m);
    expect(JSON.parse(deletion.stdout)).toMatchObject({
      organisations: [{ orgId: 'A', people: 1 }, { orgId: 'B' }],
      deleted: true,
      records: 4,
    });
    expect(await ids()).toEqual(before.filter((id) => id !== 'A' && id !== 'B'));
  });

  it.each([
    [['member', 'add', '--user', 'nobody', '--role', 'IAM_OWNER'], 'user nobody not found'],
    [['member', 'add', '--user', people.ada, '--role', 'ORG_OWNER', '--org', '99'], 'organisation 99 not found'],
    [
      ['member', 'add', '--user', people.ada, '--role', 'ORG_OWNER'],
      'invalid role ORG_OWNER for the instance: choose one of ',
    ],
    [['member', 'list', '--org', 'nowhere'], 'organisation nowhere not found'],
    [['org', 'delete', 'C', 'nowhere', '--yes'], 'organisation nowhere not found'],
    [['otp-email', 'enable', 'nobody'], 'user nobody not found'],
    [['pat', 'create', '--user', 'nobody'], 'user nobody not found'],
    [['pat', 'list', '--user', 'nobody'], 'user nobody not found'],
    [['pat', 'revoke', '0'.repeat(32)], `token ${'0'.repeat(32)} not found`],
    [['pat', 'revoke', '--all', '--user', 'nobody'], 'user nobody not found'],
    [['service-user', 'create', '--org', 'nowhere', 'x'], 'organisation nowhere not found'],
    [['service-user', 'delete', 'nobody'], 'user nobody not found'],
    [['service-user', 'delete', people.ada], `user ${people.ada} is a person: specify a service user`],
    [['user', 'list', '--org', 'nowhere'], 'organisation nowhere not found'],
    [['user', 'delete', 'nobody', '--yes'], 'user nobody not found'],
    [['user-grant', 'list', '--user', 'nobody'], 'user nobody not found'],
    [
      ['user-grant', 'remove', '--user', people.ada, '--project', 'p', '--yes'],
      `user ${people.ada} has no grant for project p`,
    ],
    [
      ['user-grant', 'remove', '--user', people.ada, '--project', 'p', '--org', 'nowhere', '--yes'],
      'organisation nowhere not found',
    ],
    [['user', 'lock', 'nobody'], 'user nobody not found'],
    [['user', 'lock', people.inactive], `cannot lock user ${people.inactive}, whose state is USER_STATE_INACTIVE`],
    [['user', 'unlock', people.inactive], `cannot unlock user ${people.inactive}, whose state is USER_STATE_INACTIVE`],
  ])('%j says that %s', async (args, message) => {
    const { code, stdout, stderr } = await identity([...args, '--json', ...database]);
    const expected = /^(?:organisation|invalid role) /.test(message) ? 64 : 1;
    const error = expect.stringContaining(`identity: ${message}`);
    expect({ code, stdout, stderr }).toEqual({ code: expected, stdout: '', stderr: error });
    expect(await ids()).toContain('C');
  });

  const ids = async () => {
    const { organisations } = listed.organisations.parse(await identityJson(['org', 'list', ...database]));
    return organisations.map(({ orgId }) => orgId);
  };

  async function listOf(userId: string): Promise<string[]> {
    const list = z.strictObject({
      tokens: z.array(z.looseObject({ tokenId: z.string(), createdAt: z.iso.datetime(), expiresAt: z.iso.datetime() })),
    });
    const { tokens } = list.parse(await identityJson(['pat', 'list', '--user', userId, ...database]));
    return tokens.map(({ tokenId }) => tokenId);
  }

  async function statesOf(userId: string): Promise<string[]> {
    const { users } = listed.users.parse(await identityJson(['user', 'list', ...database]));
    return users.filter((user) => user.userId === userId).map(({ state }) => state);
  }
});
