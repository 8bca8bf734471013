import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { ClientRequest } from 'node:http';
import { inspect } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';
import { createCloudStorage } from '../../../shared/objectStorage/cloudStorage.ts';
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
  it('sends a JWT for an hour to the token endpoint of an emulator, for the audience of Google', async () => {
    const { exchanges, authorizations, pin } = await endpoint([issued('ya29.1')]);
    await expect(pin()).rejects.toThrow(notFound);
    expect(exchanges.map((form) => form.get('grant_type'))).toEqual(['urn:ietf:params:oauth:grant-type:jwt-bearer']);
    const [header, claims] = exchanges[0]?.get('assertion')?.split('.') ?? [];
    expect(json(header)).toMatchObject({ alg: 'RS256' });
    const { iat } = z.object({ iat: z.int() }).parse(json(claims));
    expect(json(claims)).toEqual({
      iss: account.clientEmail,
      scope,
      aud: 'https://oauth2.googleapis.com/token',
      iat,
      exp: iat + 3600,
    });
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

  it('happens in each call, and again in a call whose token is about to expire', async () => {
    const { exchanges, authorizations, pin } = await endpoint([issued('ya29.1'), issued('ya29.2', 1)]);
    for (const _ of [1, 2]) await expect(pin()).rejects.toThrow(notFound);
    expect(authorizations[0]).toBe('Bearer ya29.1');
    expect(authorizations.at(-1)).toBe('Bearer ya29.2');
    expect(exchanges.length).toBeGreaterThan(2);
  });

  it('is not needed by an emulator without a token endpoint, and requests have no credentials', async () => {
    const { exchanges, authorizations, pin } = await endpoint([[404, {}]]);
    await expect(pin()).rejects.toThrow(notFound);
    expect(exchanges).toHaveLength(1);
    expect(authorizations).toEqual([undefined]);
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

  it.each<[what: string, response: ScriptedResponse]>([
    ['a redirect', [302, {}]],
    ['a forbidden account', [403, {}]],
    ['an unknown account', [401, {}]],
    ['an invalid request', [400, {}]],
    ['a rejected key', rejectedGrant],
  ])('fails for %s, and the error contains nothing of the request', async (_, response) => {
    const { pin } = await endpoint([response]);
    const failed = await pin().catch((reason: unknown) => reason);
    expect(failed).toMatchObject({ message: keyRejected });
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
