import { randomBytes } from 'node:crypto';
import { inspect } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { openStorage } from '../../../shared/objectStorage/cloudStorage.ts';
import { createCloudTransfers } from '../../../shared/objectStorage/cloudTransfers.ts';
import { startUpload, writeObject } from '../../../shared/objectStorage/writeObject.ts';
import { becomeFunction } from '../../support/emulators/functionAccount.ts';
import { type LocalBucket, startLocalBucket } from '../../support/emulators/localBucket.ts';
import { googleError, startTokenEndpoint } from '../../support/emulators/tokenEndpoint.ts';
import { collect, digest, inPieces } from '../../support/fixtures/bytes.ts';
import { describeTransfersContract, put } from '../../support/transfersContract.ts';

const never = new AbortController().signal;
const MIB = 1024 * 1024;
const facts = { instanceId: 'north', userId: 'owner' };

describe('the bucket for transfers', () => {
  let local: LocalBucket;
  beforeAll(async () => {
    local = await startLocalBucket();
    becomeFunction(local.url);
  });
  afterAll(async () => {
    vi.unstubAllEnvs();
    await local.close();
  });
  const transfers = () => createCloudTransfers('exports', local.url);

  describeTransfersContract(transfers);

  // Not in the contract, because fake-gcs-server completes an upload when a client requests its state.
  it('continues an interrupted upload at the byte that its address reports', async () => {
    const bytes = randomBytes(2 * MIB);
    const { uri } = await transfers().openUpload('continued', { facts, size: bytes.length }, never);
    await put(uri, bytes.subarray(0, MIB), `0-${MIB - 1}/${2 * MIB}`);
    const state = await put(uri, Buffer.of(), '*/*');
    expect([state.status, state.headers.get('range')]).toEqual([308, `bytes=0-${MIB - 1}`]);
    await put(uri, bytes.subarray(MIB), `${MIB}-${2 * MIB - 1}/${2 * MIB}`);
    const found = await transfers().find('imports', 'continued', never);
    expect(digest(await collect(found?.read(never) ?? inPieces(Buffer.of())))).toBe(digest(bytes));
  });

  it.each([
    ['fewer bytes', Buffer.from('1234'), undefined],
    ['more bytes', Buffer.from('123456'), undefined],
    ['another total', Buffer.from('1234'), '0-3/4'],
  ])('completes no upload with %s than its size', async (name, bytes, range) => {
    const { uri } = await transfers().openUpload(name, { facts, size: 5 }, never);
    expect((await put(uri, bytes, range)).status).toBe(400);
    expect(await transfers().find('imports', name, never)).toBeUndefined();
  });

  it("permits an upload to the page's origin only", async () => {
    const origin = 'https://console.example.com';
    const { uri } = await transfers().openUpload('browser', { facts, size: 5, origin }, never);
    const preflight = async (page: string) =>
      (await fetch(uri, { method: 'OPTIONS', headers: { origin: page } })).headers.get('access-control-allow-origin');
    expect([await preflight(origin), await preflight('https://other.example.com')]).toEqual([origin, null]);
  });

  it('has an upload for seven days', async () => {
    const { expiresAt } = await transfers().openUpload('week', { facts, size: 5 }, never);
    const days = (expiresAt.getTime() - Date.now()) / 86_400_000;
    expect(days).toBeGreaterThan(6.99);
    expect(days).toBeLessThanOrEqual(7);
  });

  it.each([
    ['no metadata', {}],
    ['the metadata of another service', { owner: 'x' }],
    ['another size than its upload has stated', { 'instance-id': 'north', 'user-id': 'owner', size: '9' }],
  ])('finds no object with %s', async (name, metadata) => {
    const target = { bucket: 'exports', path: `imports/${name}`, use: 'write' } as const;
    const session = await startUpload(openStorage(local.account, 'write', local.url), target, { custom: metadata });
    await writeObject(session, inPieces(Buffer.from('0123456789')), never);
    expect(await transfers().find('imports', name, never)).toBeUndefined();
  });

  const written = { bucket: 'exports', path: 'exports/id', generation: '1', size: 1, crc32c: '' };
  const denied = googleError(
    403,
    "Permission 'iam.serviceAccounts.signBlob' denied on resource (or it may not exist).",
  );
  const disabled = googleError(403, 'IAM Service Account Credentials API has not been used in project 1 before');
  const forbidden =
    "gs://exports/exports/id: the function's service account has no permission to use the bucket for transfers: grant the account the role Storage Object User on the bucket";
  const calls: Record<string, (bucket: ReturnType<typeof transfers>) => Promise<unknown>> = {
    write: (bucket) => bucket.write('id', facts, inPieces(Buffer.of()), never),
    downloadUrl: (bucket) => bucket.downloadUrl(written, never),
    openUpload: (bucket) => bucket.openUpload('id', { facts, size: 1 }, never),
    find: (bucket) => bucket.find('exports', 'id', never),
    delete: (bucket) => bucket.delete('exports', 'id', '1', never),
  };

  it.each([
    ['write', googleError(403, 'denied'), 'TRANSFERS_FORBIDDEN', forbidden],
    ['openUpload', googleError(403, 'denied'), 'TRANSFERS_FORBIDDEN', forbidden.replace('exports/id', 'imports/id')],
    ['find', googleError(403, 'denied'), 'TRANSFERS_FORBIDDEN', forbidden],
    ['delete', googleError(403, 'denied'), 'TRANSFERS_FORBIDDEN', forbidden],
    [
      'write',
      googleError(404, 'The specified bucket does not exist.'),
      'TRANSFER_BUCKET_MISSING',
      'gs://exports/exports/id: the bucket exports for transfers does not exist: create the bucket, or unset TRANSFER_BUCKET',
    ],
    ...[denied, disabled].map(
      (response) =>
        [
          'downloadUrl',
          response,
          'SIGNING_FORBIDDEN',
          "gs://exports/exports/id: the function's service account has no permission to sign a URL: grant the account the role Service Account Token Creator on itself, and enable iamcredentials.googleapis.com in the project",
        ] as const,
    ),
    [
      'downloadUrl',
      googleError(404, 'Not found; Gaia id not found for email'),
      'SIGNING_FAILED',
      'gs://exports/exports/id: the IAM Credentials API did not sign the URL (404): retry the request',
    ],
  ] as const)(
    'reports %s without the role, bucket or API by an error that names it: %#',
    async (name, response, reason, message) => {
      const scripted = await startTokenEndpoint([], [response]);
      onTestFinished(() => scripted.close());
      const failure = await calls[name]?.(createCloudTransfers('exports', scripted.url)).catch(
        (error: unknown) => error,
      );
      expect(failure).toMatchObject({ code: 'UNAVAILABLE', httpStatus: 503, reason, message });
      expect(scripted.authorizations[0]).toMatch(/^Bearer ya29\./);
      expect(inspect(failure, { depth: Infinity, showHidden: true })).not.toMatch(/ya29|signedBlob|X-Goog|upload_id/);
    },
  );
});
