import { randomBytes, sign } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CreateResumableUploadOptions, File } from '@google-cloud/storage';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createServiceAccount } from '../../../local/storage/serviceAccountKey.ts';
import { type RunningStorage, startStorage } from '../../../local/storage/storageServer.ts';
import { createAccountClient } from '../../../shared/objectStorage/accountClient.ts';
import { openStorage } from '../../../shared/objectStorage/cloudStorage.ts';
import type { ServiceAccount } from '../../../shared/objectStorage/objectStorage.ts';
import { readServiceAccount } from '../../../shared/objectStorage/serviceAccount.ts';
import { newAccount } from '../../support/emulators/newAccount.ts';

const scope = 'https://www.googleapis.com/auth/devstorage.read_write';
const text = Buffer.from('0123456789');

describe('the local Cloud Storage stand-in', () => {
  let directory: string;
  let account: ServiceAccount;
  let storage: RunningStorage;
  let token: string | null | undefined;
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'storage-'));
    await start();
    await save(file('ten'), text);
  });
  afterAll(async () => {
    await storage.close();
    await rm(directory, { recursive: true });
  });

  const start = async () => {
    const created = await createServiceAccount({ file: join(directory, 'key.json'), name: 'local' });
    account = readServiceAccount(Buffer.from(created.json).toString('base64'), '');
    storage = await startStorage({ directory, port: 0, account: created, bucket: 'bucket' });
    token = (await exchange()).access_token;
  };
  const exchange = (by = account) => createAccountClient(by, scope, storage.url).authorize();
  const file = (name: string) => openStorage(account, 'write', storage.url).bucket('bucket').file(name);
  const get = (path: string, headers: Record<string, string> = {}) =>
    fetch(`${storage.url}${path}`, { headers: { authorization: `Bearer ${token}`, ...headers } });
  const ten = '/storage/v1/b/bucket/o/ten';

  it.each<[string, () => ServiceAccount]>([
    ['signed with another key', () => ({ ...account, privateKey: newAccount('other').privateKey })],
    ['of another account', () => newAccount('other')],
  ])('rejects the exchange of a JWT %s, as Google does', async (_, by) => {
    await expect(exchange(by())).rejects.toMatchObject({ status: 400 });
  });

  it('rejects the exchange of a JWT for another audience, and of a text that is no JWT', async () => {
    const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url');
    const signed = [{ alg: 'RS256' }, { iss: account.clientEmail, scope, aud: storage.url }].map(encode).join('.');
    const signature = sign('sha256', Buffer.from(signed), account.privateKey).toString('base64url');
    for (const assertion of [`${signed}.${signature}`, 'assertion']) {
      const body = new URLSearchParams({ assertion });
      const answer = await fetch(`${storage.url}/token`, { method: 'POST', body });
      const error = { error: 'invalid_grant', error_description: 'Invalid JWT Signature.' };
      expect([answer.status, await answer.json()]).toEqual([400, error]);
    }
  });

  it.each([
    ['without a token', {}],
    ['with another token', { authorization: 'Bearer ya29.other' }],
  ])('responds 401 to a request %s', async (_, headers) => {
    const answer = await fetch(`${storage.url}${ten}`, { headers });
    expect([answer.status, await answer.json()]).toEqual([401, googleError(401, 'authError', 'Invalid Credentials')]);
  });

  it('returns metadata as Cloud Storage does', async () => {
    const [metadata] = await file('ten').getMetadata();
    expect(metadata).toMatchObject({
      kind: 'storage#object',
      bucket: 'bucket',
      name: 'ten',
      size: '10',
      metageneration: '1',
      crc32c: 'KAwGng==',
      generation: expect.stringMatching(/^\d{16}$/),
    });
  });

  it.each([
    ['all', undefined, 200, '0123456789'],
    ['a part', 'bytes=2-4', 206, '234'],
    ['the rest', 'bytes=7-', 206, '789'],
    ['the end', 'bytes=-2', 206, '89'],
    ['a range beyond the end', 'bytes=8-100', 206, '89'],
    ['a range outside of the object', 'bytes=10-', 416, undefined],
  ])('returns %s of an object', async (_, range, status, body) => {
    const answer = await get(`${ten}?alt=media`, range === undefined ? {} : { range });
    expect(answer.status).toBe(status);
    if (body !== undefined) expect(await answer.text()).toBe(body);
    if (status === 206) expect(answer.headers.get('content-range')).toMatch(/^bytes \d-\d\/10$/);
    if (body !== undefined) expect(answer.headers.get('x-goog-hash')).toBe('crc32c=KAwGng==');
  });

  it.each(['/storage/v1/b/bucket/o/ten', '/b/bucket/o/ten', '/download/storage/v1/b/bucket/o/ten'])(
    'serves the path %s',
    async (path) => expect(await (await get(`${path}?alt=media`)).text()).toBe('0123456789'),
  );

  it.each([
    ['an unknown bucket', '/storage/v1/b/nowhere/o/x', 'The specified bucket does not exist.'],
    ['an unknown object', '/storage/v1/b/bucket/o/a%2Fb', 'No such object: bucket/a/b'],
    ['another generation', `${ten}?generation=1`, 'No such object: bucket/ten'],
    ['another path', '/storage/v2/b', 'Not Found'],
  ])('responds 404 for %s', async (_, path, message) => {
    const answer = await get(path);
    expect(answer.status).toBe(404);
    expect(await answer.json()).toEqual(googleError(404, 'notFound', message));
  });

  it.each([
    ['ifGenerationMatch', '1', 412],
    ['ifGenerationMatch', 'present', 200],
    ['ifGenerationNotMatch', 'present', 412],
    ['ifMetagenerationMatch', '2', 412],
    ['ifMetagenerationMatch', '1', 200],
  ])('enforces %s=%s', async (name, value, status) => {
    const [{ generation }] = await file('ten').getMetadata();
    const answer = await get(`${ten}?${name}=${value === 'present' ? generation : value}`);
    expect(answer.status).toBe(status);
  });

  it('gives each overwrite a later generation, and serves the last one only', async () => {
    const one = file('changing');
    await save(one, Buffer.from('first'));
    const [{ generation: first }] = await one.getMetadata();
    await save(one, Buffer.from('second'));
    const [{ generation: second }] = await one.getMetadata();
    expect(Number(second)).toBeGreaterThan(Number(first));
    expect((await get(`/b/bucket/o/changing?alt=media&generation=${first}`)).status).toBe(404);
    expect(await (await get(`/b/bucket/o/changing?alt=media&generation=${second}`)).text()).toBe('second');
  });

  it('lets one of two writers win that create the same object', async () => {
    const once = { preconditionOpts: { ifGenerationMatch: 0 } };
    const results = await Promise.allSettled(
      [1, 2, 3, 4].map((n) => save(file('contested'), randomBytes(n * 1000), once)),
    );
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  });

  it('deletes an object that is removed', async () => {
    await save(file('removed'), text);
    await file('removed').delete();
    await expect(file('removed').getMetadata()).rejects.toMatchObject({ code: 404 });
  });

  it('rejects a checksum that does not match the bytes, and keeps nothing', async () => {
    const wrong = { metadata: { crc32c: 'AAAAAA==' } };
    await expect(save(file('wrong'), text, wrong)).rejects.toMatchObject({ code: 400 });
    await expect(file('wrong').getMetadata()).rejects.toMatchObject({ code: 404 });
  });

  it('accepts a resumable upload in chunks, reports its progress, and publishes nothing before its end', async () => {
    const [uri] = await file('chunks').createResumableUpload();
    const bytes = randomBytes(300 * 1024);
    expect(await put(uri, 'bytes */*')).toEqual([308, null]);
    expect(await put(uri, 'bytes 0-262143/*', bytes.subarray(0, 262144))).toEqual([308, 'bytes=0-262143']);
    expect(await put(uri, 'bytes */*')).toEqual([308, 'bytes=0-262143']);
    expect((await get('/b/bucket/o/chunks')).status).toBe(404);
    expect(await put(uri, 'bytes 0-9/*', bytes.subarray(0, 10))).toEqual([308, 'bytes=0-262143']);
    expect(await put(uri, 'bytes 262144-307199/307200', bytes.subarray(262144))).toEqual([200, null]);
    expect(await put(uri, 'bytes */307200')).toEqual([200, null]);
    const answer = await get('/b/bucket/o/chunks?alt=media');
    expect(bytes.equals(Buffer.from(await answer.arrayBuffer()))).toBe(true);
  });

  it.each(['multipart', 'media'])(
    'rejects an upload of the type %s with 501, and names the type to use',
    async (type) => {
      const authorization = `Bearer ${token}`;
      const url = `${storage.url}/upload/storage/v1/b/bucket/o?uploadType=${type}&name=refused`;
      const answer = await fetch(url, { method: 'POST', headers: { authorization }, body: text });
      const message = `uploadType=${type} is not implemented here: use uploadType=resumable`;
      expect([answer.status, await answer.json()]).toEqual([501, googleError(501, 'notImplemented', message)]);
      expect((await get('/b/bucket/o/refused')).status).toBe(404);
    },
  );

  it('drops a resumable upload that is cancelled', async () => {
    const [uri] = await file('cancelled').createResumableUpload();
    await put(uri, 'bytes 0-262143/*', randomBytes(262144));
    expect((await fetch(uri, { method: 'DELETE' })).status).toBe(499);
    expect((await put(uri, 'bytes */262144'))[0]).toBe(404);
    expect((await get('/b/bucket/o/cancelled')).status).toBe(404);
  });

  it('keeps its objects across a restart', async () => {
    await storage.close();
    await start();
    expect(await (await get(`${ten}?alt=media`)).text()).toBe('0123456789');
  });
});

const googleError = (code: number, reason: string, message: string) => ({
  error: { code, message, errors: [{ message, domain: 'global', reason }] },
});

/** Uploads an object in one request. The library's own upload sends credentials to Google's endpoint only. */
async function save(file: File, content: Buffer, options: CreateResumableUploadOptions = {}): Promise<void> {
  const [uri] = await file.createResumableUpload(options);
  const { ok, status } = await fetch(uri, { method: 'PUT', body: content });
  if (!ok) throw Object.assign(new Error('the upload was refused'), { code: status });
}

async function put(uri: string, range: string, body?: Buffer): Promise<[number, string | null]> {
  const headers = { 'content-range': range };
  const answer = await fetch(uri, { method: 'PUT', headers, redirect: 'manual', ...(body ? { body } : {}) });
  return [answer.status, answer.headers.get('range')];
}
