import { beforeAll, expect, it } from 'vitest';
import { z } from 'zod';
import { identity, identityJson } from '../../support/command.ts';
import { peopleOf, sampleOrganisation } from '../../support/fixtures/sampleOrganisation.ts';
import { expectError, exportFrom, post, removeOtpEmail } from '../../support/http/wire.ts';
import {
  daysFromNow,
  describeDatabases,
  notServed,
  serveSample,
  tokenPattern,
} from '../../support/instances/commandInstance.ts';
import { newServiceUser, newToken } from '../../support/instances/tokens.ts';

const restricted = z.strictObject({ tokenId: z.string(), token: z.string(), expiresAt: z.string() });

describeDatabases('identity pat', (newDatabase) => {
  const organisation = sampleOrganisation();
  const people = peopleOf(organisation);
  let { database, instance, owner } = notServed;
  beforeAll(async () => {
    const served = await serveSample(await newDatabase(), organisation);
    ({ database, instance, owner } = served);
    return served.stop;
  });

  it('pat create, list and revoke decide at once which tokens the service takes', async () => {
    const made = await newToken(database, owner);
    expect(made.token).toMatch(tokenPattern);
    expect(await listOf(owner)).toContain(made.tokenId);
    await exportFrom({ ...instance, token: made.token });
    expect(await identityJson(['pat', 'revoke', made.tokenId, ...database])).toEqual({ tokenId: made.tokenId });
    expectError(await post({ ...instance, token: made.token }, 'export', { response_output: true }), 401, 16);
    expect(await listOf(owner)).not.toContain(made.tokenId);
  });

  it('pat create --only and --org make a token that can do no more than that', async () => {
    const { orgId } = organisation;
    const create = ['pat', 'create', '--user', owner, ...database];
    const newRestricted = async (...args: string[]) => restricted.parse(await identityJson([...create, ...args])).token;
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
    expect({ code, stderr }).toEqual({ code: 64, stderr: expect.stringContaining('at most 7d (MAX_TOKEN_DAYS)') });
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

  it.each([
    [['pat', 'create', '--user', 'nobody'], 'user nobody not found'],
    [['pat', 'list', '--user', 'nobody'], 'user nobody not found'],
    [['pat', 'revoke', '0'.repeat(32)], `token ${'0'.repeat(32)} not found`],
    [['pat', 'revoke', '--all', '--user', 'nobody'], 'user nobody not found'],
  ])('%j says that %s', async (args, message) => {
    const { code, stdout, stderr } = await identity([...args, '--json', ...database]);
    expect({ code, stdout, stderr }).toEqual({ code: 1, stdout: '', stderr: `identity: ${message}\n` });
  });

  async function listOf(userId: string): Promise<string[]> {
    const list = z.strictObject({
      tokens: z.array(z.looseObject({ tokenId: z.string(), createdAt: z.iso.datetime(), expiresAt: z.iso.datetime() })),
    });
    const { tokens } = list.parse(await identityJson(['pat', 'list', '--user', userId, ...database]));
    return tokens.map(({ tokenId }) => tokenId);
  }
});
