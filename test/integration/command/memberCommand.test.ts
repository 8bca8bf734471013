import { beforeAll, expect, it } from 'vitest';
import { identity, identityJson } from '../../support/command.ts';
import { peopleOf, sampleOrganisation } from '../../support/fixtures/sampleOrganisation.ts';
import { expectError, exportFrom, parseOk, post, removeOtpEmail } from '../../support/http/wire.ts';
import { describeDatabases, notServed, serveSample } from '../../support/instances/commandInstance.ts';
import { newServiceUser } from '../../support/instances/tokens.ts';

describeDatabases('identity member', (newDatabase) => {
  const organisation = sampleOrganisation();
  const people = peopleOf(organisation);
  let { database, instance, owner } = notServed;
  beforeAll(async () => {
    const served = await serveSample(await newDatabase(), organisation);
    ({ database, instance, owner } = served);
    return served.stop;
  });

  it('the last IAM_OWNER whose tokens are valid stays, unless --force is given', async () => {
    const { userId, token } = await newServiceUser(database, 'second-owner');
    const member = ['--user', userId, '--role', 'IAM_OWNER', ...database];
    await identityJson(['member', 'add', ...member]);
    await identityJson(['user', 'lock', owner, ...database]);
    const refused = {
      code: 1,
      stderr: `identity: user ${userId} is the last IAM_OWNER with valid tokens: grant the role to another user with \`identity member add\`, or add --force\n`,
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

  it.each([
    [['member', 'add', '--user', 'nobody', '--role', 'IAM_OWNER'], 'user nobody not found'],
    [['member', 'add', '--user', people.ada, '--role', 'ORG_OWNER', '--org', '99'], 'organisation 99 not found'],
  ])('%j says that %s', async (args, message) => {
    const { code, stdout, stderr } = await identity([...args, '--json', ...database]);
    expect({ code, stdout, stderr }).toEqual({ code: 1, stdout: '', stderr: `identity: ${message}\n` });
  });

  it('a role of organisations is answered with those of the instance, where no organisation is named', async () => {
    const { code, stderr } = await identity(['member', 'add', '--user', owner, '--role', 'ORG_OWNER', ...database]);
    expect(code).toBe(64);
    expect(stderr).toMatch(/^identity: invalid role ORG_OWNER for the instance: choose one of IAM_OWNER, .*\n$/);
  });
});
