import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { type RunningStorage, startStorage } from '../../../local/storage/server.ts';
import { localAccount, newAccount, signJwt } from '../../support/emulators/localAccounts.ts';

const viewer = newAccount('viewer');
const other = newAccount('other');
const readOnly = 'https://www.googleapis.com/auth/devstorage.read_only';
const jwtBearer = 'urn:ietf:params:oauth:grant-type:jwt-bearer';
const now = Math.floor(Date.now() / 1000);

let directory: string;
let storage: RunningStorage;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'tokens-'));
  const accounts = [localAccount(viewer, ['objectViewer']), localAccount(other, ['objectViewer'])];
  storage = await startStorage({ directory, port: 0, accounts });
});
afterAll(async () => {
  await storage.close();
  await rm(directory, { recursive: true });
});

/** The status of a read with a token: 404 where the token is taken, since the object does not exist. */
async function read(token: string): Promise<number> {
  const headers = { authorization: `Bearer ${token}` };
  return (await fetch(`${storage.url}/storage/v1/b/bucket/o/missing`, { headers })).status;
}

const exchange = async (assertion: string, grantType = jwtBearer) => {
  const body = new URLSearchParams({ grant_type: grantType, assertion });
  const response = await fetch(`${storage.url}/token`, { method: 'POST', body });
  return { status: response.status, body: await response.json() };
};
const assertion = (changes: Readonly<Record<string, unknown>> = {}) =>
  signJwt(viewer, { aud: `${storage.url}/token`, scope: readOnly, ...changes });

describe('the token endpoint of the local stand-in', () => {
  it.each([
    ['with a subject', {}],
    ['without one', { sub: undefined }],
  ])('exchanges a JWT %s for an access token of an hour', async (_, changes) => {
    const { status, body } = await exchange(assertion(changes));
    expect([status, body]).toMatchObject([200, { expires_in: 3599, token_type: 'Bearer' }]);
    expect(await read(z.object({ access_token: z.string() }).parse(body).access_token)).toBe(404);
  });

  it.each([
    ['datastore', 403],
    ['devstorage.read_write', 404],
    ['cloud-platform', 404],
    ['cloud-platform.read-only', 404],
  ])('issues a token whose scope is %s, and that reads with %i', async (name, status) => {
    const { body } = await exchange(assertion({ scope: `https://www.googleapis.com/auth/${name}` }));
    expect(await read(z.object({ access_token: z.string() }).parse(body).access_token)).toBe(status);
  });

  it.each<[what: string, token: () => string]>([
    ['for Google itself', () => assertion({ aud: 'https://oauth2.googleapis.com/token' })],
    ['for Cloud Storage', () => assertion({ aud: 'https://storage.googleapis.com/' })],
    ['without an audience', () => assertion({ aud: undefined })],
    ['that has expired', () => assertion({ iat: now - 3700, exp: now - 100 })],
    ['that lives longer than an hour', () => assertion({ exp: now + 7200 })],
    ['for another subject', () => assertion({ sub: other.clientEmail })],
    ['signed with another key', () => signed({ privateKey: other.privateKey })],
    ['that names another key', () => signed({ keyId: 'deleted-key' })],
    ['of an unknown account', () => signed({ clientEmail: 'nobody' })],
    ['that is none', () => 'assertion'],
  ])('rejects a JWT %s as Google does', async (_, token) => {
    expect(await exchange(token())).toEqual({
      status: 400,
      body: { error: 'invalid_grant', error_description: 'Invalid JWT Signature.' },
    });
  });

  it('rejects another grant type, and a JWT without a scope', async () => {
    expect(await exchange(assertion(), 'password')).toMatchObject({
      status: 400,
      body: { error: 'unsupported_grant_type' },
    });
    expect(await exchange(assertion({ scope: undefined }))).toMatchObject({
      status: 400,
      body: { error: 'invalid_scope' },
    });
  });

  const signed = (changes: Partial<typeof viewer>) =>
    signJwt({ ...viewer, ...changes }, { aud: `${storage.url}/token`, scope: readOnly });
});

describe('the local stand-in', () => {
  it.each<[what: string, claims: () => Readonly<Record<string, unknown>>]>([
    ['for Cloud Storage', () => ({})],
    ['for this server', () => ({ aud: `${storage.url}/storage/v1/b/bucket` })],
    ['without a subject', () => ({ sub: undefined })],
  ])('takes a JWT of an account itself, %s', async (_, claims) => {
    expect(await read(signJwt(viewer, claims()))).toBe(404);
  });

  it.each([
    ['that is no token', 'token'],
    ['with a scope, which is disputed', signJwt(viewer, { scope: readOnly })],
    ['with a scope instead of an audience', signJwt(viewer, { aud: undefined, scope: readOnly })],
    ['without the id of its key', signJwt({ clientEmail: viewer.clientEmail, privateKey: viewer.privateKey })],
    ['with the id of another key', signJwt({ ...viewer, keyId: 'deleted-key' })],
    ['that has expired', signJwt(viewer, { iat: now - 3700, exp: now - 100 })],
    ['that is of the future', signJwt(viewer, { iat: now + 600, exp: now + 3600 })],
    ['that lives longer than an hour', signJwt(viewer, { exp: now + 7200 })],
    ['without an end', signJwt(viewer, { exp: undefined })],
    ['of an unknown account', signJwt({ ...viewer, clientEmail: 'nobody' })],
    ['signed with another key', signJwt({ ...viewer, privateKey: other.privateKey })],
    ['for another subject', signJwt(viewer, { sub: other.clientEmail })],
    ['without an audience', signJwt(viewer, { aud: undefined })],
    ['for another audience', signJwt(viewer, { aud: 'https://firestore.googleapis.com/' })],
    ['without a signature', signJwt(viewer).replace(/[^.]*$/, '')],
    ['whose content was changed', signJwt(viewer).replace(/\.[^.]*\./, `.${signJwt(other).split('.')[1]}.`)],
  ])('refuses a token %s with 401', async (_, token) => {
    expect(await read(token)).toBe(401);
  });

  it('refuses a request without a token with 401', async () => {
    const response = await fetch(`${storage.url}/storage/v1/b/bucket/o/missing`);
    const message = 'Invalid Credentials';
    expect([response.status, await response.json()]).toEqual([
      401,
      { error: { code: 401, message, errors: [{ message, domain: 'global', reason: 'authError' }] } },
    ]);
  });
});
