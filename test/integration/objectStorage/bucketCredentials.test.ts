import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { writeFile } from 'node:fs/promises';
import { ClientRequest } from 'node:http';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { z } from 'zod';
import { IdentityError } from '../../../shared/errors/identityError.ts';
import { createCloudStorage } from '../../../shared/objectStorage/cloudStorage.ts';
import { DEFAULT_CREDENTIALS, type ServiceAccount } from '../../../shared/objectStorage/objectStorage.ts';
import { type LocalBucket, startLocalBucket } from '../../support/emulators/localBucket.ts';
import { newAccount } from '../../support/emulators/newAccount.ts';
import { collect, inPieces } from '../../support/fixtures/bytes.ts';
import { temporaryDirectory } from '../../support/processes/temporaryDirectory.ts';

const never = new AbortController().signal;

describe('the credentials of a call', () => {
  let local: LocalBucket;
  beforeAll(async () => {
    local = await startLocalBucket();
    await write(local.account, 'there', 'content');
  });
  afterAll(() => local.close());

  const bucket = () => createCloudStorage(local.url);
  const write = (account: ServiceAccount, path: string, text = 'x', name = 'exports') =>
    bucket().write({ bucket: name, path, account }, inPieces(Buffer.from(text)), never);
  const pin = (account: ServiceAccount, path: string, name = 'exports') =>
    bucket().pin({ bucket: name, path, account }, never);

  it.each([
    ['a bucket', { bucket: '../other', path: 'x' }],
    ['an object', { bucket: 'exports', path: '..' }],
  ])('are not used for an invalid name of %s', async (_, name) => {
    const hosts = await requestsOf(async () => {
      const refused = bucket().pin({ ...name, account: local.account }, never);
      await expect(refused).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
    });
    expect(hosts).toEqual([]);
  });

  it('are sent only to the given endpoint, including the key exchange, even after a rejection elsewhere', async () => {
    const hosts = await requestsOf(async () => {
      await write(local.account, 'counted');
      await collect((await pin(local.account, 'counted')).read(never));
      await Promise.allSettled([write(mixedUp(), 'no'), pin(mixedUp(), 'there'), pin(local.account, 'missing')]);
    });
    expect(hosts.length).toBeGreaterThan(5);
    expect(new Set(hosts)).toEqual(new Set([new URL(local.url).host]));
  });

  const noBucket = 'gs://nowhere/x: the bucket nowhere does not exist: check its name';
  const rejected = (place: string) =>
    `gs://exports/${place}: Cloud Storage rejected the service account's key: create a new key`;
  const nobody = () => ({ ...local.account, clientEmail: 'nobody@local.iam.gserviceaccount.com' });
  const exists = 'gs://exports/there: the object exists and is never overwritten: choose another path';

  it.each<[what: string, code: string, status: number, message: string, call: () => Promise<unknown>]>([
    [
      'a missing bucket, written to',
      'INVALID_ARGUMENT',
      400,
      noBucket,
      () => write(local.account, 'x', 'x', 'nowhere'),
    ],
    ['a missing bucket, read from', 'INVALID_ARGUMENT', 400, noBucket, () => pin(local.account, 'x', 'nowhere')],
    [
      'a missing object',
      'NOT_FOUND',
      404,
      'gs://exports/no: object not found: check its path',
      () => pin(local.account, 'no'),
    ],
    ['an existing object, written', 'ALREADY_EXISTS', 409, exists, () => write(local.account, 'there')],
    ["another account's key, to write", 'INVALID_ARGUMENT', 400, rejected('x'), () => write(mixedUp(), 'x')],
    ["another account's key, to read", 'INVALID_ARGUMENT', 400, rejected('there'), () => pin(mixedUp(), 'there')],
    ['an unknown account', 'INVALID_ARGUMENT', 400, rejected('there'), () => pin(nobody(), 'there')],
  ])(
    "produce for %s an error whose text is entirely this service's own",
    async (_what, code, httpStatus, message, call) => {
      const error: unknown = await call().then(
        () => 'nothing failed',
        (reason: unknown) => reason,
      );
      if (!(error instanceof IdentityError)) throw error;
      expect({ code: error.code, httpStatus: error.httpStatus, message: error.message }).toEqual({
        code,
        httpStatus,
        message,
      });
      const info = {
        '@type': expect.any(String),
        reason: error.reason,
        domain: 'identity',
        metadata: expect.any(Object),
      };
      expect(error.details).toEqual([info]);
      // The message consists of the catalogue's text and of the parameters.
      for (const value of Object.values(error.details[0]?.metadata ?? {})) expect(message).toContain(value);
    },
  );

  it('are by default those of the key file that the environment names', async () => {
    const directory = await temporaryDirectory();
    onTestFinished(() => directory.remove());
    const { clientEmail, privateKey } = local.account;
    const key = { type: 'service_account', client_email: clientEmail, private_key: privateKey };
    const file = join(directory.path, 'key.json');
    await writeFile(file, JSON.stringify(key));
    vi.stubEnv('GOOGLE_APPLICATION_CREDENTIALS', file);
    onTestFinished(() => void vi.unstubAllEnvs());
    const object = await bucket().pin({ bucket: 'exports', path: 'there', account: DEFAULT_CREDENTIALS }, never);
    expect(String(await collect(object.read(never)))).toBe('content');
  });

  it('are required: without any, an error names the object and how to get them', async () => {
    const directory = await temporaryDirectory();
    onTestFinished(() => directory.remove());
    onTestFinished(() => void vi.unstubAllEnvs());
    vi.stubEnv('GOOGLE_APPLICATION_CREDENTIALS', undefined);
    // The library reads the credentials of gcloud in the home directory, and asks a server in Google Cloud.
    vi.stubEnv('HOME', directory.path);
    vi.stubEnv('METADATA_SERVER_DETECTION', 'none');
    const pinning = bucket().pin({ bucket: 'exports', path: 'there', account: DEFAULT_CREDENTIALS }, never);
    await expect(pinning).rejects.toMatchObject({
      reason: 'CREDENTIALS_MISSING',
      message: expect.stringContaining('no credentials for gs://exports/there: '),
    });
  });

  it('leave no trace in any error', async () => {
    const results = await Promise.allSettled([
      write(mixedUp(), 'x'),
      write(local.account, 'there'),
      write(local.account, 'x', 'x', 'nowhere'),
      pin(mixedUp(), 'x'),
      pin(local.account, 'nothing'),
    ]);
    const shown = inspect(results, { depth: Infinity, showHidden: true });
    expect(results.every(({ status }) => status === 'rejected')).toBe(true);
    expect(shown).not.toMatch(/PRIVATE|Bearer|eyJ|gserviceaccount|authorization/i);
  });

  it('are sent to STORAGE_EMULATOR_HOST if it is set, with or without a scheme', async () => {
    const before = process.env.STORAGE_EMULATOR_HOST;
    try {
      for (const host of [local.url, new URL(local.url).host]) {
        process.env.STORAGE_EMULATOR_HOST = host;
        const { account } = local;
        const pinned = await createCloudStorage().pin({ bucket: 'exports', path: 'there', account }, never);
        expect((await collect(pinned.read(never))).toString()).toBe('content');
      }
    } finally {
      if (before === undefined) delete process.env.STORAGE_EMULATOR_HOST;
      else process.env.STORAGE_EMULATOR_HOST = before;
    }
  });

  const { privateKey } = newAccount('other');
  const mixedUp = () => ({ clientEmail: local.account.clientEmail, privateKey });
});

const httpRequest = z.object({ request: z.instanceof(ClientRequest) });
const undiciRequest = z.object({ request: z.object({ origin: z.unknown() }) });

/** The hosts of all HTTP requests of this process during a test, whichever client makes them. */
async function requestsOf(run: () => Promise<void>): Promise<string[]> {
  const hosts: string[] = [];
  const onHttp = (message: unknown) => hosts.push(String(httpRequest.parse(message).request.getHeader('host')));
  const onUndici = (message: unknown) => hosts.push(String(undiciRequest.parse(message).request.origin));
  subscribe('http.client.request.start', onHttp);
  subscribe('undici:request:create', onUndici);
  try {
    await run();
  } finally {
    unsubscribe('http.client.request.start', onHttp);
    unsubscribe('undici:request:create', onUndici);
  }
  return hosts;
}
