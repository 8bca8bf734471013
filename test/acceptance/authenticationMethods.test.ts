import { beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { peopleOf, sampleOrganisation } from '../support/fixtures/sampleOrganisation.ts';
import { type Answer, expectError, importInto, parseOk, removeOtpEmail, send } from '../support/http/wire.ts';
import { describeDeployment, type Instance } from '../support/instances/deployments.ts';

const listed = z.strictObject({
  details: z.strictObject({ totalResult: z.string().optional(), timestamp: z.iso.datetime() }),
  authMethodTypes: z.array(z.string()).optional(),
});

const pathOf = (userId: string, generation = 'v2') =>
  `/${generation}/users/${encodeURIComponent(userId)}/authentication_methods`;

function list(instance: Instance, userId: string, query = '', token = instance.token): Promise<Answer> {
  return send(instance, { method: 'GET', path: `${pathOf(userId)}${query}`, token });
}

async function typesOf(answer: Promise<Answer>): Promise<readonly string[]> {
  const { details, authMethodTypes = [] } = listed.parse(parseOk(await answer));
  expect(details.totalResult ?? '0').toBe(String(authMethodTypes.length));
  return authMethodTypes.map((type) => type.replace('AUTHENTICATION_METHOD_TYPE_', ''));
}

describeDeployment('the list of authentication methods', (get) => {
  const organisation = sampleOrganisation();
  const people = peopleOf(organisation);
  beforeAll(async () => {
    await importInto(get().target, { data_orgs: { orgs: [organisation] } });
  });

  it('contains the factor before its removal, and not after it', async () => {
    const { target } = get();
    const own = sampleOrganisation();
    const { ada } = peopleOf(own);
    await importInto(target, { data_orgs: { orgs: [own] } });
    expect(await typesOf(list(target, ada))).toEqual(['TOTP', 'OTP_EMAIL', 'PASSWORD']);
    parseOk(await removeOtpEmail(target, ada));
    expect(await typesOf(list(target, ada))).toEqual(['TOTP', 'PASSWORD']);
  });

  it('has the time of its request', async () => {
    const before = Date.now();
    const { details } = listed.parse(parseOk(await list(get().target, people.ada)));
    expect(Date.parse(details.timestamp)).toBeGreaterThanOrEqual(before);
    expect(Date.parse(details.timestamp)).toBeLessThanOrEqual(Date.now());
  });

  it('contains neither a hash nor a seed', async () => {
    const [{ user } = {}] = organisation.humanUsers;
    const { text } = await list(get().target, people.ada);
    expect(text).not.toContain(user?.hashedPassword.value);
    expect(text).not.toContain(user?.otpCode);
  });

  describe('with a query parameter', () => {
    it.each([
      '?domainQuery.domain=example.com',
      '?domain_query.domain=example.com&domain_query.include_without_domain=true',
      '?domainQuery.domain=example.com&domainQuery.includeWithoutDomain=0',
      `?domainQuery.domain=${encodeURIComponent('😀'.repeat(200))}`,
      '?userId=1&domain=&other=x',
    ])('is the same as without it: %.60s', async (query) => {
      expect(await typesOf(list(get().target, people.ben, query))).toEqual(['TOTP', 'OTP_EMAIL', 'PASSWORD']);
    });

    const wrongDomain =
      /^invalid ListAuthenticationMethodTypesRequest\.DomainQuery: .* invalid DomainQuery\.Domain: value length/;
    it.each([
      ['?domainQuery.domain=', wrongDomain],
      ['?domainQuery.includeWithoutDomain=false', wrongDomain],
      [`?domain_query.domain=${'x'.repeat(201)}`, wrongDomain],
      ['?domainQuery.domain=a.example&domain_query.domain=b.example', /^domainQuery\.domain: must not be repeated$/],
      [
        '?domainQuery.domain=a&domainQuery.includeWithoutDomain=yes',
        /^domainQuery\.includeWithoutDomain: must be a single true or false$/,
      ],
    ])('fails with 400, and only once the token is valid: %.60s', async (query, message) => {
      const { target } = get();
      expect(expectError(await list(target, people.ben, query), 400, 3).message).toMatch(message);
      expectError(await list(target, people.ben, query, 'notreal'), 401, 16);
    });

    it('ignores the parameter under the path of the beta', async () => {
      const path = `${pathOf(people.ben, 'v2beta')}?domainQuery.domain=`;
      const { target } = get();
      expect(await typesOf(send(target, { method: 'GET', path, token: target.token }))).toContain('OTP_EMAIL');
    });
  });

  it('rejects an empty domain over RPCs', async () => {
    const { target } = get();
    const request = { method: 'POST', path: '/zitadel.user.v2.UserService/ListAuthenticationMethodTypes' };
    const body = JSON.stringify({ userId: people.ben, domainQuery: {} });
    const headers = { 'content-type': 'application/json' };
    const { status, text } = await send(target, { ...request, token: target.token, body, headers });
    expect([status, JSON.parse(text)]).toMatchObject([
      400,
      { code: 'invalid_argument', message: expect.stringContaining('invalid DomainQuery.Domain: value length') },
    ]);
  });

  it('has its status in frames for a client that accepts gRPC-Web', async () => {
    const { target } = get();
    const headers = { accept: 'application/grpc-web+proto' };
    const answer = await send(target, { method: 'GET', path: pathOf(people.ben), token: target.token, headers });
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/grpc-web+proto']);
    expect(answer.text).toMatch(/grpc-status: 0\r\n$/);
  });

  it('is rejected for a user id of 201 characters', async () => {
    const { message } = expectError(await list(get().target, 'x'.repeat(201)), 400, 3);
    expect(message).toMatch(/^invalid ListAuthenticationMethodTypesRequest\.UserId: value length/);
  });
});
