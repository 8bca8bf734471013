import { beforeAll, expect, it } from 'vitest';
import { z } from 'zod';
import { identity, identityJson } from '../../support/command.ts';
import { peopleOf, sampleOrganisation } from '../../support/fixtures/sampleOrganisation.ts';
import { expectError, exportFrom, importInto, parseOk, post, removeOtpEmail } from '../../support/http/wire.ts';
import { describeDatabases, notServed, serveSample } from '../../support/instances/commandInstance.ts';
import { newServiceUser } from '../../support/instances/tokens.ts';

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

describeDatabases('identity user, service-user and otp-email', (newDatabase) => {
  const organisation = sampleOrganisation();
  const people = peopleOf(organisation);
  let { database, instance, owner } = notServed;
  beforeAll(async () => {
    const served = await serveSample(await newDatabase(), organisation);
    ({ database, instance, owner } = served);
    return served.stop;
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
    const ownersOrg = users.find(({ userId }) => userId === owner)?.orgId ?? '';
    const { stdout } = await identity(['member', 'list', '--org', ownersOrg, ...database]);
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
      expect({ code, stderr }).toEqual({ code: 64, stderr: expect.stringMatching(/^identity: invalid name: .*\n$/) });
    },
  );

  it.each([
    [['user', 'lock', 'nobody'], 'user nobody not found'],
    [['user', 'lock', people.inactive], `cannot lock user ${people.inactive}, whose state is USER_STATE_INACTIVE`],
    [['user', 'unlock', people.inactive], `cannot unlock user ${people.inactive}, whose state is USER_STATE_INACTIVE`],
    [['otp-email', 'enable', 'nobody'], 'user nobody not found'],
    [['service-user', 'create', '--org', 'nowhere', 'x'], 'organisation nowhere not found'],
    [['service-user', 'delete', 'nobody'], 'user nobody not found'],
    [['user', 'list', '--org', 'nowhere'], 'organisation nowhere not found'],
    [['member', 'list', '--org', 'nowhere'], 'organisation nowhere not found'],
  ])('%j says that %s', async (args, message) => {
    const { code, stdout, stderr } = await identity([...args, '--json', ...database]);
    expect({ code, stdout, stderr }).toEqual({ code: 1, stdout: '', stderr: `identity: ${message}\n` });
  });

  async function statesOf(userId: string): Promise<string[]> {
    const { users } = listed.users.parse(await identityJson(['user', 'list', ...database]));
    return users.filter((user) => user.userId === userId).map(({ state }) => state);
  }
});
