import { readFile } from 'node:fs/promises';
import { gzipSync } from 'node:zlib';
import { expect, it, onTestFinished } from 'vitest';
import { createCloudStorage } from '../../shared/objectStorage/cloudStorage.ts';
import { startLocalBucket } from '../support/emulators/localBucket.ts';
import { frame } from '../support/http/grpcFrames.ts';
import { post, send } from '../support/http/wire.ts';
import { describeDatabases } from '../support/instances/commandInstance.ts';
import { startAbused, startAbusedSqlite } from './support/abusedServer.ts';
import { repeated, sendStream } from './support/requests.ts';

const ENTRIES = 10_600_000;
const RPC = '/zitadel.user.v2.UserService/RemoveOTPEmail';
const COMPRESSED = 1;

function* manyEntries(start: string, end: string): Generator<string> {
  yield start;
  yield* repeated('{}', ENTRIES, ',');
  yield end;
}

const gzip = Buffer.from(gzipSync([...manyEntries('{"data_orgs":{"orgs":[', ']}}')].join(''), { level: 9 }));

describeDatabases('ten million empty organisations', (newDatabase) => {
  it('are rejected within the memory of a function, however they arrive', async () => {
    const bucket = await startLocalBucket();
    onTestFinished(() => bucket.close());
    const server = await startAbused(await newDatabase(), { STORAGE_EMULATOR_HOST: bucket.url });
    expect(gzip.byteLength).toBeLessThan(40_000);
    const inflated = await sendStream(server, '/admin/v1/import', [gzip], { 'content-encoding': 'gzip' });
    expect(inflated).toMatchObject({
      status: 413,
      text: expect.stringContaining('decompresses to more than 100 times'),
    });
    const inline = await sendStream(server, '/admin/v1/import', manyEntries('{"data_orgs":{"orgs":[', ']}}'));
    expect(inline).toMatchObject({ status: 413, text: expect.stringContaining('more than 100000 organisations') });

    const storage = createCloudStorage(bucket.url);
    const { signal } = new AbortController();
    const bytes = (async function* () {
      for (const part of manyEntries('{"orgs":[', ']}')) yield Buffer.from(part);
    })();
    await storage.write({ bucket: 'exports', path: 'entries', account: bucket.account }, bytes, signal);
    const key = await readFile(bucket.keyFile);
    const location = { bucket: 'exports', path: 'entries', serviceaccount_json: key.toString('base64') };
    const fromBucket = await post(server, 'import', { data_orgs_gcs: location });
    expect(fromBucket).toMatchObject({ status: 413, text: expect.stringContaining('more than 100000 organisations') });
    await server.expectSound();
  });
});

it('an RPC that inflates to 32 MB is rejected in its protocol', async () => {
  const server = await startAbusedSqlite();
  const call = (type: string, body: Uint8Array<ArrayBuffer>, headers: Readonly<Record<string, string>>) =>
    send(server, {
      method: 'POST',
      path: RPC,
      token: server.token,
      body,
      headers: { 'content-type': type, ...headers },
    });
  const framed = frame(COMPRESSED, gzip);
  for (let repetition = 0; repetition < 20; repetition++) {
    const connect = await call('application/proto', gzip, { 'content-encoding': 'gzip' });
    expect(connect).toMatchObject({ status: 429, text: expect.stringContaining('resource_exhausted') });
    for (const type of ['application/grpc', 'application/grpc-web']) {
      const { headers } = await call(type, framed, { 'grpc-encoding': 'gzip' });
      expect(headers.get('grpc-status')).toBe('8');
    }
  }
  await server.expectSound();
});
