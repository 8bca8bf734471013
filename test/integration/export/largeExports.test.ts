import { describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { keyRejected, signingForbidden } from '../../../shared/errors/storageErrors.ts';
import { inspect } from '../../../shared/exportFile/inspection.ts';
import { log } from '../../../shared/log.ts';
import type { ObjectStorage, WrittenObject } from '../../../shared/objectStorage/objectStorage.ts';
import { newAccount } from '../../support/emulators/newAccount.ts';
import { inPieces } from '../../support/fixtures/bytes.ts';
import { organisation, person } from '../../support/fixtures/organisations.ts';
import { exportedFile, type TestInstance } from '../../support/instances/testInstance.ts';
import { type TransferInstance, transferInstance } from '../../support/instances/transferInstance.ts';
import { memoryTransfers } from '../../support/memoryTransfers.ts';
import { describeStores, type StoreKind } from '../../support/stores/stores.ts';

const PATH = '/admin/v1/export';
const LIMIT = 100_000;

const redirection = z.strictObject({
  manifest: z.looseObject({ digest: z.string() }),
  object: z.strictObject({
    bucket: z.string(),
    path: z.string(),
    generation: z.string(),
    size: z.number(),
    crc32c: z.string(),
  }),
});

const crowd = (count: number) => ({
  orgs: ['acme', 'zeta'].map((orgId) =>
    organisation(orgId, { humanUsers: Array.from({ length: count }, (_, number) => person(`${orgId} P${number}`)) }),
  ),
});

const everything = ({ orgId }: TestInstance) => ({ excluded_org_ids: [orgId], response_output: true });

/** An instance whose export is larger than its responses may be. */
async function filled(kind?: StoreKind, replaced = {}): Promise<TransferInstance> {
  const instance = await transferInstance(kind, { limits: { responseBytes: LIMIT }, ...replaced });
  await instance.import({ data_orgs: crowd(400) });
  return instance;
}

/** Exports, and returns the object that the response redirects to. */
async function exportToObject(instance: TransferInstance) {
  const response = await instance.request('POST', PATH, everything(instance));
  expect(response.status).toBe(303);
  const { manifest, object } = redirection.parse(await response.json());
  const location = response.headers.get('location') ?? '';
  return { manifest, object, location, id: object.path.split('/').at(-1) ?? '' };
}

describeStores('an export that is larger than a response may be', (kind) => {
  it('is redirected to one whole file with the same manifest', async () => {
    const instance = await filled(kind);
    const { manifest, object, location } = await exportToObject(instance);
    const bytes = instance.transfers.download(location);
    expect(bytes.length).toBeGreaterThan(LIMIT);
    expect(object).toMatchObject({ bucket: 'transfers', path: expect.stringMatching(/^exports\/[\w-]{22}$/) });
    expect(object.size).toBe(bytes.length);
    const file = exportedFile.parse(JSON.parse(bytes.toString()));
    expect(file.manifest).toEqual(manifest);
    expect(file.manifest.counts).toMatchObject({ orgs: 2, humanUsers: 800 });
    const inspection = await inspect({ open: () => inPieces(bytes) }, new AbortController().signal);
    expect(inspection).toMatchObject({ proved: true, tally: { digest: manifest.digest } });
  });
});

describe('an export that is larger than a response may be', () => {
  it('is recorded with its object, and the trail does not contain its address', async () => {
    const { events, transfers, ...instance } = await filled();
    const { object } = await exportToObject({ events, transfers, ...instance });
    const { bucket, path, generation } = object;
    expect(events.at(-1)).toMatchObject({
      event: 'export.finished',
      outcome: 'ok',
      transfer: { bucket, path, generation },
      counts: { orgs: 2 },
      digest: expect.any(String),
    });
    expect(transfers.addresses).toHaveLength(1);
    expect(JSON.stringify(events)).not.toContain('signature=');
  });

  it('is an error that names gcs_output if the instance has no bucket for transfers', async () => {
    const instance = await filled(undefined, { transfers: undefined });
    const response = await instance.request('POST', PATH, everything(instance));
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ code: 9, message: expect.stringContaining('gcs_output') });
  });

  it.each([{ 'content-type': 'application/grpc-web+proto' }, { 'content-type': 'application/grpc' }])(
    'is an error that names gcs_output for a request with %o',
    async (headers) => {
      const instance = await filled();
      const response = await instance.request('POST', PATH, everything(instance), headers);
      expect(response.headers.get('grpc-status')).toBe('8');
      expect(response.headers.get('grpc-message')).toContain('gcs_output');
      expect(response.headers.get('location')).toBeNull();
      expect(instance.transfers.objects.size).toBe(0);
    },
  );

  it.each([{ 'connect-protocol-version': '1' }, { 'content-type': 'application/connect+json' }])(
    'is RESOURCE_EXHAUSTED for a request with %o',
    async (headers) => {
      const instance = await filled();
      const response = await instance.request('POST', PATH, everything(instance), headers);
      expect(response.status).toBe(429);
      expect(await response.json()).toMatchObject({ code: 8, message: expect.stringContaining('gcs_output') });
    },
  );

  /** Stores the files of `gcs_output` in a list. */
  function callersBucket() {
    const written: Buffer[] = [];
    const objectStorage: ObjectStorage = {
      async write({ bucket, path }, content) {
        written.push(Buffer.concat(await Array.fromAsync(content)));
        return { bucket, path, generation: '7', size: 1, crc32c: 'AAAAAA==' };
      },
      pin: () => Promise.reject(new Error('unused')),
    };
    const { clientEmail, privateKey } = newAccount('exporter');
    const key = JSON.stringify({ type: 'service_account', client_email: clientEmail, private_key: privateKey });
    const serviceaccount_json = Buffer.from(key).toString('base64');
    return { written, objectStorage, gcs_output: { bucket: 'exports', path: 'a.json', serviceaccount_json } };
  }

  it('is redirected too if gcs_output has the same file', async () => {
    const { written, objectStorage, gcs_output } = callersBucket();
    const instance = await filled(undefined, { objectStorage });
    const response = await instance.request('POST', PATH, { ...everything(instance), gcs_output });
    expect(response.status).toBe(303);
    const bytes = instance.transfers.download(response.headers.get('location') ?? '');
    expect(written).toEqual([bytes]);
    expect(instance.events.at(-1)).toMatchObject({
      object: { bucket: 'exports', path: 'a.json', generation: '7' },
      transfer: { bucket: 'transfers' },
    });
  });

  const unsigned = () => ({
    ...memoryTransfers(),
    downloadUrl: () => Promise.reject(signingForbidden({ at: 'gs://transfers/exports/x' })),
  });

  it('is the error of the signature if none can be made, and its object is deleted', async () => {
    const transfers = unsigned();
    const instance = await filled(undefined, { transfers });
    const response = await instance.request('POST', PATH, everything(instance));
    expect(response.status).toBe(503);
    expect(await response.json()).toMatchObject({
      message: expect.stringContaining('has no permission to sign a URL'),
    });
    expect(transfers.objects.size).toBe(0);
    expect(instance.events.at(-1)).toMatchObject({
      event: 'export.finished',
      outcome: 'UNAVAILABLE',
      transfer: { bucket: 'transfers' },
    });
  });

  it('leaves an object that cannot be deleted in the log', async () => {
    const transfers = { ...unsigned(), delete: () => Promise.reject(keyRejected({ at: 'the bucket' })) };
    const instance = await filled(undefined, { transfers });
    using kept = vi.spyOn(log, 'warn');
    const response = await instance.request('POST', PATH, everything(instance));
    expect(await response.json()).toMatchObject({
      message: expect.stringContaining('has no permission to sign a URL'),
    });
    const [path] = transfers.objects.keys();
    const fields = { object: `gs://transfers/${path}`, stack_trace: expect.any(Error) };
    expect(kept.mock.calls).toEqual([
      [fields, 'the file of a failed export was not deleted'],
      [expect.objectContaining({ status: 503 }), 'request finished'],
    ]);
  });

  it('is an error that names the object of gcs_output if the URL cannot be signed', async () => {
    const { objectStorage, gcs_output } = callersBucket();
    const transfers = unsigned();
    const instance = await filled(undefined, { transfers, objectStorage });
    const response = await instance.request('POST', PATH, { ...everything(instance), gcs_output });
    expect(response.status).toBe(503);
    expect(await response.json()).toMatchObject({
      message: expect.stringMatching(
        /^gs:\/\/exports\/a\.json was written \(generation 7\), but the response failed: .*has no permission to sign a URL/,
      ),
    });
    expect(transfers.objects.size).toBe(0);
  });

  it('is deleted if the client leaves before its response', async () => {
    const client = new AbortController();
    const transfers = memoryTransfers();
    const leaving = {
      ...transfers,
      async downloadUrl(object: WrittenObject, signal: AbortSignal) {
        client.abort();
        return await transfers.downloadUrl(object, signal);
      },
    };
    const instance = await filled(undefined, { transfers: leaving });
    const response = await instance.app.request(PATH, {
      method: 'POST',
      headers: { authorization: `Bearer ${instance.token}` },
      body: JSON.stringify(everything(instance)),
      signal: client.signal,
    });
    expect(response.status).toBe(499);
    expect(transfers.addresses).toHaveLength(1);
    expect(transfers.objects.size).toBe(0);
  });

  it('has no effect on an export within the limit', async () => {
    const instance = await transferInstance(undefined, { limits: { responseBytes: LIMIT } });
    const response = await instance.request('POST', PATH, { response_output: true });
    expect(response.status).toBe(200);
    expect(instance.transfers.objects.size).toBe(0);
  });
});

describe('the deletion of an export’s object', () => {
  const remove = (instance: TransferInstance, id: string, headers = {}) =>
    instance.request('DELETE', `${PATH}?object=${id}`, undefined, headers);

  it('deletes it once, and is on record', async () => {
    const instance = await filled();
    const { id, object } = await exportToObject(instance);
    const response = await remove(instance, id);
    expect([response.status, await response.json()]).toEqual([200, {}]);
    expect(instance.transfers.objects.size).toBe(0);
    const { bucket, path, generation } = object;
    expect(instance.events.at(-1)).toMatchObject({
      event: 'export.objectDeleted',
      outcome: 'ok',
      userId: instance.userId,
      object: { bucket, path, generation },
    });
    const again = await remove(instance, id);
    expect(again.status).toBe(404);
    const message = `exports/${id} does not exist: the object was deleted or has expired`;
    expect(await again.json()).toMatchObject({ message });
  });

  it('is denied to another owner, and to a token of other operations', async () => {
    const instance = await filled();
    const { id } = await exportToObject(instance);
    const foreign = await remove(instance, id, { authorization: `Bearer ${await instance.createOwner()}` });
    expect(foreign.status).toBe(403);
    expect(await foreign.json()).toMatchObject({ message: expect.stringContaining('another caller') });
    expect((await remove(instance, id, { authorization: 'Bearer x' })).status).toBe(401);
    expect(instance.transfers.objects.size).toBe(1);
  });

  it.each(['', 'x', '..%2Fimports%2FAAAAAAAAAAAAA'])('is an error for the id "%s"', async (id) => {
    const response = await remove(await transferInstance(), id);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ message: expect.stringMatching(/^object: /) });
  });

  it('does not find an object without a bucket', async () => {
    const instance = await transferInstance(undefined, { transfers: undefined });
    const response = await remove(instance, 'A'.repeat(22));
    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({ message: expect.stringContaining('has no bucket for transfers') });
  });

  it('is an error for two ids', async () => {
    const instance = await filled();
    const { id } = await exportToObject(instance);
    const response = await remove(instance, `${id}&object=${'A'.repeat(22)}`);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ message: 'object: repeated 2 times: specify it once' });
    expect(instance.transfers.objects.size).toBe(1);
  });
});
