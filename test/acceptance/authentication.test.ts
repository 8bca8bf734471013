import { beforeAll, describe, expect, it } from 'vitest';
import { peopleOf, sampleOrganisation } from '../support/fixtures/sampleOrganisation.ts';
import { expectError, exportFrom, importInto, post, send } from '../support/http/wire.ts';
import { type Deployment, describeDeployment } from '../support/instances/deployments.ts';
import { databaseOf, newServiceUser, newToken } from '../support/instances/tokens.ts';
import { hostedJson } from '../support/processes/hostedCommand.ts';

const operations = [
  { method: 'POST', path: '/admin/v1/export', body: '{"response_output":true}' },
  { method: 'POST', path: '/admin/v1/import', body: '{"data_orgsv1":{"orgs":[]}}' },
  { method: 'DELETE', path: '/v2/users/1/otp_email' },
  { method: 'GET', path: '/v2/users/1/authentication_methods' },
];

describeDeployment('authentication', (get) => {
  describe.each(operations)('$method $path', (operation) => {
    it('rejects a request without an Authorization header with 401', async () => {
      const answer = await send(get().target, operation);
      expect(expectError(answer, 401, 16)).toEqual({ code: 16, message: 'auth header missing' });
      expect(answer.headers.get('www-authenticate')).toBe('auth header missing');
    });

    it.each([
      ['another scheme', (token: string) => `Basic ${token}`, 'invalid auth header (AUTH-toLo1)'],
      ['an unknown token', () => 'Bearer notreal', 'Errors.Token.Invalid (AUTH-7fs1e)'],
    ])('rejects %s with 401', async (_name, header, message) => {
      const { target } = get();
      const answer = await send(target, { ...operation, headers: { authorization: header(target.token) } });
      expect(expectError(answer, 401, 16).message).toBe(message);
    });

    // `fetch` sends no body with GET.
    const bodies = operation.method === 'GET' ? [] : ['', '{', '[]', 'x'.repeat(100_000)];
    it.each(bodies)('rejects a request with 401 whatever its body is: %.9s', async (body) => {
      const { method, path } = operation;
      expectError(await send(get().target, { method, path, body }), 401, 16);
    });
  });

  describe('the tokens of users', () => {
    const organisation = sampleOrganisation();
    const people = peopleOf(organisation);
    beforeAll(async () => {
      await importInto(get().target, { data_orgs: { orgs: [organisation] } });
    });

    it('are rejected once they are revoked', async (test) => {
      const database = databaseOf(get().target, test);
      const { token, tokenId } = await newToken(database, people.ada);
      expectError(await exportAs(get(), token), 403, 7);
      await hostedJson(['pat', 'revoke', tokenId, ...database]);
      const { message } = expectError(await exportAs(get(), token), 401, 16);
      expect(message).toBe('Errors.Token.Invalid (AUTH-7fs1e)');
    });

    it('permit neither export nor import without the role IAM_OWNER, whatever the body is', async (test) => {
      const database = databaseOf(get().target, test);
      const robot = await newServiceUser(database, `robot-${organisation.orgId}`);
      const owner = await newToken(database, people.owner);
      for (const { token } of [robot, owner]) {
        for (const body of [{ response_output: true }, { data_orgs: { orgs: [sampleOrganisation()] } }, [], 'x']) {
          for (const operation of ['export', 'import'] as const) {
            const answer = await post({ ...get().target, token }, operation, body);
            expect(expectError(answer, 403, 7).message).toBe('No matching permissions found (AUTH-5mWD2)');
          }
        }
      }
    });

    it('permit export and import with the role IAM_OWNER, until the role is removed', async (test) => {
      const database = databaseOf(get().target, test);
      const { token, userId } = await newServiceUser(database, `owner-${organisation.orgId}`);
      const instance = { ...get().target, token };
      const role = ['--user', userId, '--role', 'IAM_OWNER', ...database];
      await hostedJson(['member', 'add', ...role]);
      const { orgs } = await exportFrom(instance, { org_ids: [organisation.orgId] });
      expect((await importInto(instance, { data_orgs: { orgs } })).summary.created).toEqual({});
      await hostedJson(['member', 'remove', ...role]);
      expectError(await exportAs(get(), token), 403, 7);
    });
  });
});

function exportAs({ target }: Deployment, token: string) {
  return post({ ...target, token }, 'export', { response_output: true });
}
