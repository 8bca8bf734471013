import { beforeAll, describe, expect, it } from 'vitest';
import { peopleOf, sampleOrganisation } from '../support/fixtures/sampleOrganisation.ts';
import { expectError, exportFrom, importInto, post, send } from '../support/http/wire.ts';
import { type Deployment, describeDeployment } from '../support/instances/deployments.ts';
import { databaseOf, expiredToken, newServiceUser, newToken } from '../support/instances/tokens.ts';

const operations = [
  { method: 'POST', path: '/admin/v1/export', body: '{"response_output":true}' },
  { method: 'POST', path: '/admin/v1/import', body: '{"data_orgsv1":{"orgs":[]}}' },
  { method: 'DELETE', path: '/v2/users/1/otp_email' },
  { method: 'GET', path: '/v2/users/1/authentication_methods' },
];

const refusedHeaders: [name: string, header: (token: string) => string, message: string][] = [
  ['a lower-case scheme', (token) => `bearer ${token}`, 'invalid auth header (AUTH-toLo1)'],
  ['another scheme', (token) => `Basic ${token}`, 'invalid auth header (AUTH-toLo1)'],
  ['no scheme', (token) => token, 'invalid auth header (AUTH-toLo1)'],
  ['a scheme without a token', () => 'Bearer', 'invalid auth header (AUTH-toLo1)'],
  ['garbage', () => 'Bearer notreal', 'Errors.Token.Invalid (AUTH-7fs1e)'],
  ['a token and a space', (token) => `Bearer  ${token}`, 'Errors.Token.Invalid (AUTH-7fs1e)'],
  ['two tokens', (token) => `Bearer ${token},Bearer ${token}`, 'Errors.Token.Invalid (AUTH-7fs1e)'],
  ['a token whose last character is another', changeLast, 'Errors.Token.Invalid (AUTH-7fs1e)'],
  [
    'a token without its last character',
    (token) => `Bearer ${token.slice(0, -1)}`,
    'Errors.Token.Invalid (AUTH-7fs1e)',
  ],
  ['half a token', (token) => `Bearer ${token.slice(0, 30)}`, 'Errors.Token.Invalid (AUTH-7fs1e)'],
  ['a token and one more character', (token) => `Bearer ${token}0`, 'Errors.Token.Invalid (AUTH-7fs1e)'],
  ['a token with a flipped bit', (token) => `Bearer ${flipBit(token, 20)}`, 'Errors.Token.Invalid (AUTH-7fs1e)'],
  [
    'a token with a flipped bit in its checksum',
    (token) => `Bearer ${flipBit(token, 50)}`,
    'Errors.Token.Invalid (AUTH-7fs1e)',
  ],
  ['a token in capitals', (token) => `Bearer ${token.toUpperCase()}`, 'Errors.Token.Invalid (AUTH-7fs1e)'],
  ['ten thousand characters', () => `Bearer ${'x'.repeat(10_000)}`, 'Errors.Token.Invalid (AUTH-7fs1e)'],
];

function changeLast(token: string): string {
  return `Bearer ${token.slice(0, -1)}${token.endsWith('0') ? '1' : '0'}`;
}

/** Flips the lowest bit of a token's character, which stays a character of tokens or becomes another visible character. */
function flipBit(token: string, at: number): string {
  return `${token.slice(0, at)}${String.fromCharCode(token.charCodeAt(at) ^ 1)}${token.slice(at + 1)}`;
}

describeDeployment('authentication', (get) => {
  describe.each(operations)('$method $path', (operation) => {
    it('rejects a request without an Authorization header with 401', async () => {
      const answer = await send(get().target, operation);
      expect(expectError(answer, 401, 16)).toEqual({ code: 16, message: 'auth header missing' });
      expect(answer.headers.get('www-authenticate')).toBe('auth header missing');
    });

    it.each(refusedHeaders)('rejects %s with 401', async (_name, header, message) => {
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

    it('are rejected once they have expired', async (test) => {
      const { token } = await expiredToken(databaseOf(get().target, test), people.ada);
      await expectInvalid(get(), token);
    });

    it('are rejected once they are revoked', async (test) => {
      const database = databaseOf(get().target, test);
      const { token, tokenId } = await newToken(database, people.ada);
      expectError(await exportAs(get(), token), 403, 7);
      await identityProcessJson(['pat', 'revoke', tokenId, ...database]);
      await expectInvalid(get(), token);
    });

    it('are rejected while the user is deactivated', async (test) => {
      const { token } = await newToken(databaseOf(get().target, test), people.inactive);
      await expectInvalid(get(), token);
    });

    it('are rejected once the service user is deleted', async (test) => {
      const database = databaseOf(get().target, test);
      const { token, userId } = await newServiceUser(database, `deleted-${organisation.orgId}`);
      expectError(await exportAs(get(), token), 403, 7);
      await identityProcessJson(['service-user', 'delete', userId, ...database]);
      await expectInvalid(get(), token);
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
      await identityProcessJson(['member', 'add', ...role]);
      const { orgs } = await exportFrom(instance, { org_ids: [organisation.orgId] });
      expect((await importInto(instance, { data_orgs: { orgs } })).summary.created).toEqual({});
      await identityProcessJson(['member', 'remove', ...role]);
      expectError(await exportAs(get(), token), 403, 7);
    });
  });
});

import { identityProcessJson } from '../support/processes/programs.ts';

function exportAs({ target }: Deployment, token: string) {
  return post({ ...target, token }, 'export', { response_output: true });
}

async function expectInvalid(deployment: Deployment, token: string): Promise<void> {
  const { message } = expectError(await exportAs(deployment, token), 401, 16);
  expect(message).toBe('Errors.Token.Invalid (AUTH-7fs1e)');
}
