import { readdir, readFile, readlink, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { serve } from '../../shared/http/server.ts';
import { createCloudStorage } from '../../shared/objectStorage/cloudStorage.ts';
import { systemCode } from '../../shared/systemCode.ts';
import { startLocalBucket } from '../support/emulators/localBucket.ts';
import { organisation, person } from '../support/fixtures/organisations.ts';
import { ask, openConnection } from '../support/http/rawHttp.ts';
import { post } from '../support/http/wire.ts';
import { testInstance } from '../support/instances/testInstance.ts';
import { openTestStore, sqlite } from '../support/stores/stores.ts';
import { startAbusedSqlite } from './support/abusedServer.ts';
import { almostHundredfold } from './support/files.ts';
import { askMeanwhile, sendStream } from './support/requests.ts';
import { sizes } from './support/sizes.ts';

const KEYS_BYTES = 7_500_000;
/** Fewer would show a blocked event loop. */
const ANSWERED = 3;

function unknownKeys(): string {
  const keys: string[] = [];
  for (let bytes = 0; bytes < KEYS_BYTES; bytes += keys.at(-1)?.length ?? 0) keys.push(`"k${keys.length}":1,`);
  return keys.join('');
}

it('7.5 MB of unknown keys do not hold up others', async () => {
  const server = await startAbusedSqlite();
  const keys = unknownKeys();
  const org = JSON.stringify(organisation('o')).slice(1);
  const user = JSON.stringify(person('p')).slice(1);
  const bodies = [
    [400, `{${keys}"data_orgs":{"orgs":[]}}`],
    [400, `{"data_orgs":{${keys}"orgs":[]}}`],
    [400, `{"data_orgs":{"orgs":[{${keys}${org}]}}`],
    // A record above the limit fails, and the others are imported.
    [200, `{"data_orgs":{"orgs":[${`{"orgId":"o","org":{"name":"o"},"humanUsers":[{${keys}${user}]}`}]}}`],
  ] as const;
  const health = async () => expect((await fetch(`${server.url}/health`)).status).toBe(200);
  for (const [status, body] of bodies) {
    const { result, answered } = await askMeanwhile(sendStream(server, '/admin/v1/import', [body]), health);
    expect(result.status, result.text.slice(0, 300)).toBe(status);
    expect(answered).toBeGreaterThanOrEqual(ANSWERED);
  }
  await server.expectSound();
});

const spaces = Buffer.alloc(1_000_000, ' ');

/** White space between two texts; in a string, a text may stand for each space. */
function* spaced(start: string, end: string, escaped?: string): Generator<string | Uint8Array> {
  yield start;
  const part = escaped === undefined ? spaces : Buffer.alloc(1_000_000, escaped);
  for (let megabyte = 0; megabyte < sizes.whiteSpaceMegabytes; megabyte++) yield part;
  yield end;
}

it(`${sizes.whiteSpaceMegabytes} MB of white space are rejected early, in any position`, async () => {
  const bucket = await startLocalBucket();
  onTestFinished(() => bucket.close());
  const server = await startAbusedSqlite({ STORAGE_EMULATOR_HOST: bucket.url });
  const places: readonly (readonly [start: string, end: string, escaped?: string])[] = [
    ['', '{"data_orgs":{"orgs":[]}}'],
    ['{"data_orgs":', '{"orgs":[]}}'],
    ['{"data_orgs":{"orgs":[', ']}}'],
    ['{"data_orgs":{"orgs":[]}}', ''],
    ['{"data_orgsv1":"{\\"orgs\\":[', ']}"}'],
    ['{"data_orgsv1":"{\\"orgs\\":[', ']}"}', '\\n'],
  ];
  for (const [start, end, escaped] of places) {
    const { status, text } = await sendStream(server, '/admin/v1/import', spaced(start, end, escaped));
    expect({ status, text }, start).toMatchObject({
      status: 400,
      text: expect.stringContaining('bytes of white space'),
    });
  }

  const storage = createCloudStorage(bucket.url);
  const object = (async function* () {
    for (const part of spaced('{"orgs":[', ']}')) yield Buffer.from(part);
  })();
  const { signal } = new AbortController();
  await storage.write({ bucket: 'exports', path: 'spaces', account: bucket.account }, object, signal);
  const key = await readFile(bucket.keyFile);
  const location = { bucket: 'exports', path: 'spaces', serviceaccount_json: key.toString('base64') };
  const answer = await post(server, 'import', { data_orgs_gcs: location });
  expect(answer).toMatchObject({ status: 400, text: expect.stringContaining('bytes of white space') });
  await server.expectSound();
});

/** The bytes of a process's unlinked files. */
async function unnamedBytes(pid: number): Promise<number> {
  const descriptors = `/proc/${pid}/fd`;
  const bytes = (await readdir(descriptors)).map(async (descriptor) => {
    const path = join(descriptors, descriptor);
    const target = await readlink(path).catch(() => '');
    if (!/identity-[^/]* \(deleted\)$/.test(target)) return 0;
    // The server may have closed the descriptor since it was listed.
    return await stat(path).then(
      ({ size }) => size,
      (error: unknown) => {
        if (systemCode(error) === 'ENOENT') return 0;
        throw error;
      },
    );
  });
  return (await Promise.all(bytes)).reduce((sum, size) => sum + size, 0);
}

it('unfinished bodies take no more space than the limit', async () => {
  const instance = await testInstance(await openTestStore(sqlite), 'test', { limits: { bufferedBytes: 200_000_000 } });
  const server = await serve({ app: instance.app, host: '127.0.0.1', port: 0, drainMs: 0 });
  onTestFinished(async () => void (await server.close()));
  const body = almostHundredfold(12);
  const answers: string[] = [];
  for (let held = 0; held < 40; held++) {
    const socket = await openConnection(server.url);
    onTestFinished(() => void socket.destroy());
    socket.on('error', () => undefined).on('data', (bytes) => answers.push(bytes.toString().slice(9, 12)));
    const headers = `Authorization: Bearer ${instance.token}\r\nContent-Encoding: gzip\r\nContent-Length: 1000000000`;
    socket.write(`POST /admin/v1/import HTTP/1.1\r\nHost: a\r\n${headers}\r\n\r\n`);
    socket.write(body.subarray(0, -100));
  }
  // Some are rejected while others have not sent all of theirs.
  await expect.poll(() => answers.length).toBeGreaterThan(20);
  await expect.poll(() => unnamedBytes(process.pid)).toBeGreaterThan(50_000_000);
  const headers = { authorization: `Bearer ${instance.token}` };
  expect((await ask(server.url, 'DELETE /v2/users/1/otp_email', headers)).status).toBe(404);
  expect(await unnamedBytes(process.pid)).toBeLessThanOrEqual(200_000_000);
  expect(new Set(answers)).toEqual(new Set(['429']));
});
