import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { ClientRequest } from 'node:http';
import { inspect } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';
import { createCloudStorage } from '../../../shared/objectStorage/cloudStorage.ts';
import { exchangeKey } from '../../../shared/objectStorage/keyExchange.ts';
import type { ServiceAccount } from '../../../shared/objectStorage/objectStorage.ts';
import { newAccount } from '../../support/emulators/newAccount.ts';
import { googleError, type ScriptedResponse, startTokenEndpoint } from '../../support/emulators/tokenEndpoint.ts';

const never = new AbortController().signal;
const account = newAccount('exporter');
const scope = 'https://www.googleapis.com/auth/devstorage.read_only';
const issued = (value: string, expires_in = 3599): ScriptedResponse => [
  200,
  { access_token: value, expires_in, token_type: 'Bearer' },
];
const rejectedGrant: ScriptedResponse = [400, { error: 'invalid_grant', error_description: 'Invalid JWT Signature.' }];
const notFound = 'gs://exports/x: object not found: check its path';
const keyRejected = "gs://exports/x: Cloud Storage rejected the service account's key: create a new key";

async function endpoint(exchanges: readonly ScriptedResponse[], storage?: readonly ScriptedResponse[]) {
  const started = await startTokenEndpoint(exchanges, storage);
  onTestFinished(() => started.close());
  const bucket = createCloudStorage(started.url);
  const pin = (by: ServiceAccount = account, signal = never) =>
    bucket.pin({ bucket: 'exports', path: 'x', account: by }, signal);
  return { ...started, pin };
}

const json = (part: string | undefined): unknown => JSON.parse(Buffer.from(part ?? '', 'base64url').toString());

describe('the exchange of a key', () => {
  it("sends a JWT for an hour with the key's id to the token endpoint, which is its audience", async () => {
    const { url, exchanges, authorizations, pin } = await endpoint([issued('ya29.1')]);
    await expect(pin()).rejects.toThrow(notFound);
    expect(exchanges.map((form) => form.get('grant_type'))).toEqual(['urn:ietf:params:oauth:grant-type:jwt-bearer']);
    const [header, claims] = exchanges[0]?.get('assertion')?.split('.') ?? [];
    expect(json(header)).toEqual({ alg: 'RS256', typ: 'JWT', kid: account.keyId });
    const { iat } = z.object({ iat: z.int() }).parse(json(claims));
    expect(json(claims)).toEqual({ iss: account.clientEmail, scope, aud: `${url}/token`, iat, exp: iat + 3600 });
    expect(Math.abs(iat - Date.now() / 1000)).toBeLessThan(5);
    expect(authorizations).toEqual(['Bearer ya29.1']);
  });

  it('requests a token with write access only in order to write', async () => {
    const missing = googleError(404, 'The specified bucket does not exist.');
    const { url, exchanges, pin } = await endpoint([issued('ya29.1'), issued('ya29.2')], [missing]);
    const content = (async function* () {})();
    const place = { bucket: 'exports', path: 'x', account };
    await expect(pin()).rejects.toThrow('exports');
    await expect(createCloudStorage(url).write(place, content, never)).rejects.toThrow('exports');
    const scopes = exchanges.map((form) => json(form.get('assertion')?.split('.')[1]));
    expect(scopes).toMatchObject([{ scope }, { scope: scope.replace('read_only', 'read_write') }]);
  });

  it('happens once for all calls with a key, and again for another key of the same account', async () => {
    const { exchanges, authorizations, pin } = await endpoint([issued('ya29.1'), issued('ya29.2')]);
    const otherKey = { ...newAccount('exporter'), keyId: 'other-key' };
    for (const by of [account, account, otherKey, account]) await expect(pin(by)).rejects.toThrow(notFound);
    expect(exchanges).toHaveLength(2);
    expect(authorizations).toEqual(['Bearer ya29.1', 'Bearer ya29.1', 'Bearer ya29.2', 'Bearer ya29.1']);
  });

  it('happens again when the token is about to expire', async () => {
    const { exchanges, pin } = await endpoint([issued('ya29.1', 300)]);
    for (const _ of [1, 2]) await expect(pin()).rejects.toThrow(notFound);
    expect(exchanges.length).toBeGreaterThanOrEqual(2);
  });

  it('is not needed by an emulator without a token endpoint, and requests have no credentials', async () => {
    const { exchanges, authorizations, pin } = await endpoint([[404, {}]]);
    for (const _ of [1, 2]) await expect(pin()).rejects.toThrow(notFound);
    expect(exchanges).toHaveLength(1);
    expect(authorizations).toEqual([undefined, undefined]);
  });

  it('fails at once with the documented error if it is rejected', async () => {
    const { exchanges, authorizations, pin } = await endpoint([rejectedGrant]);
    await expect(pin()).rejects.toMatchObject({ code: 'INVALID_ARGUMENT', httpStatus: 400, message: keyRejected });
    expect([exchanges.length, authorizations.length]).toEqual([1, 0]);
  });

  it('is repeated while the token endpoint is overloaded', async () => {
    const { exchanges, pin } = await endpoint([[503, {}], [429, {}], issued('ya29.1')]);
    await expect(pin()).rejects.toThrow(notFound);
    expect(exchanges).toHaveLength(3);
  });

  it('ends with the call, even if the token endpoint never responds', async () => {
    const { exchanges, pin } = await endpoint(['nothing']);
    const stop = new AbortController();
    const pinned = pin(account, stop.signal);
    await expect.poll(() => exchanges.length).toBe(1);
    stop.abort(new Error('the client left'));
    await expect(pinned).rejects.toThrow('the client left');
  });

  it('replaces a cached token that is rejected meanwhile, once', async () => {
    const unauthorized = googleError(401, 'Invalid Credentials');
    const missing = googleError(404, 'No such object: exports/x');
    const { exchanges, authorizations, pin } = await endpoint(
      [issued('ya29.1'), issued('ya29.2')],
      [missing, unauthorized, missing, unauthorized],
    );
    await expect(pin()).rejects.toThrow(notFound);
    await expect(pin()).rejects.toThrow(notFound);
    expect(authorizations).toEqual(['Bearer ya29.1', 'Bearer ya29.1', 'Bearer ya29.2']);
    await expect(pin()).rejects.toThrow(keyRejected);
    expect([exchanges.length, authorizations.length]).toEqual([3, 5]);
  });

  it.each<[what: string, response: ScriptedResponse, status: number]>([
    ['a response that is no token', [200, { id_token: 'x' }], 503],
    ['an empty token', issued(''), 503],
    ['a redirect', [302, {}], 401],
    ['a forbidden account', [403, {}], 401],
    ['an invalid request', [400, {}], 401],
    ['a timeout', [408, {}], 408],
    ['an overloaded endpoint', [429, {}], 429],
    ['a failing endpoint', [500, {}], 500],
  ])('fails for %s, and the error contains nothing of the request', async (_, response, status) => {
    const { url } = await endpoint([response]);
    const failed = await exchangeKey(account, scope, `${url}/token`, never).catch((reason: unknown) => reason);
    expect(failed).toBeInstanceOf(Error);
    expect(failed).toMatchObject({ status });
    expect(inspect(failed, { depth: Infinity, showHidden: true })).not.toMatch(
      /eyJ|assertion|PRIVATE|gserviceaccount/i,
    );
  });

  it('fails with a code if no server listens, and the error contains nothing of the request', async () => {
    const failed = await exchangeKey(account, scope, 'http://127.0.0.1:9/token', never).catch(
      (reason: unknown) => reason,
    );
    expect(failed).toMatchObject({ code: 'NO_RESPONSE' });
    expect(failed).not.toHaveProperty('status');
    expect(inspect(failed, { depth: Infinity, showHidden: true })).not.toMatch(
      /eyJ|assertion|PRIVATE|gserviceaccount/i,
    );
  });

  it("uses Google's token endpoint if no other endpoint is given, and no other", async () => {
    const stop = new AbortController();
    const hosts: string[] = [];
    const onRequest = (message: unknown) => {
      const { request } = z.object({ request: z.instanceof(ClientRequest) }).parse(message);
      hosts.push(`${request.protocol}//${request.getHeader('host')}${request.path}`);
      request.destroy();
      stop.abort(new Error('seen'));
    };
    const before = process.env.STORAGE_EMULATOR_HOST;
    delete process.env.STORAGE_EMULATOR_HOST;
    subscribe('http.client.request.start', onRequest);
    try {
      const pinned = createCloudStorage().pin({ bucket: 'exports', path: 'x', account }, stop.signal);
      await expect(pinned).rejects.toThrow('seen');
    } finally {
      unsubscribe('http.client.request.start', onRequest);
      if (before !== undefined) process.env.STORAGE_EMULATOR_HOST = before;
    }
    expect(hosts).toEqual(['https://oauth2.googleapis.com/token']);
  });
});
