import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { openedUpload } from '../../../functions/import/contract.ts';
import { organisation, person } from '../../support/fixtures/organisations.ts';
import { importReport } from '../../support/instances/testInstance.ts';
import { type TransferInstance, transferInstance } from '../../support/instances/transferInstance.ts';
import { memoryTransfers } from '../../support/memoryTransfers.ts';
import { describeStores } from '../../support/stores/stores.ts';

const PATH = '/admin/v1/import';
const errorBody = z.object({ message: z.string() });

const file = (orgId = 'acme') =>
  Buffer.from(JSON.stringify({ orgs: [organisation(orgId, { humanUsers: [person('ada'), person('bob')] })] }));

/** Opens an upload, and sends a file to its address. */
async function upload(instance: TransferInstance, bytes: Buffer, sent = bytes): Promise<string> {
  const response = await instance.request('POST', PATH, { upload: { size: bytes.length } });
  expect(response.status).toBe(200);
  const { id, uri } = openedUpload.parse(await response.json()).upload;
  instance.transfers.send(uri, sent);
  return id;
}

const importUpload = (instance: TransferInstance, id: string, options: object = {}, headers = {}) =>
  instance.request('POST', PATH, { data_orgs_upload: id, ...options }, headers);

/** Expects an error, and returns its status and message. */
async function refusal(response: Response) {
  expect(response.status).toBeGreaterThanOrEqual(400);
  return { status: response.status, message: errorBody.parse(await response.json()).message };
}

describeStores('an upload', (kind) => {
  it('is imported as the same file in a request is, as often as it is sent', async () => {
    const instance = await transferInstance(kind);
    const id = await upload(instance, file());
    const first = importReport.parse(await (await importUpload(instance, id)).json());
    expect(first.summary.created).toEqual({ org: 1, humanUsers: 2 });
    const again = importReport.parse(await (await importUpload(instance, id)).json());
    expect(again.summary).toMatchObject({ created: {}, unchanged: { org: 1, humanUsers: 2 } });
    const inline = await instance.import({ data_orgs: JSON.parse(file().toString()) });
    expect(inline).toEqual(again);
    expect(instance.transfers.objects.size).toBe(1);
  });
});

describe('an upload', () => {
  it('can be tried in a dry run, with the options of an import and with events', async () => {
    const instance = await transferInstance();
    const id = await upload(instance, file());
    const response = await importUpload(
      instance,
      id,
      { dry_run: true, ids: false },
      { accept: 'application/x-ndjson' },
    );
    const lines = (await response.text()).trim().split('\n');
    const last = z.object({ event: z.literal('result'), response: importReport }).parse(JSON.parse(lines.at(-1) ?? ''));
    expect(last.response.summary).toMatchObject({ dryRun: true, created: { org: 1, humanUsers: 2 }, idsOmitted: true });
  });

  it('is opened with one JSON object for a client that accepts events', async () => {
    const instance = await transferInstance();
    const headers = { accept: 'application/x-ndjson' };
    const response = await instance.request('POST', PATH, { upload: { size: 1 } }, headers);
    expect(response.headers.get('content-type')).toBe('application/json');
    openedUpload.parse(await response.json());
  });

  it('is on record when it is opened, imported and deleted, and no address is', async () => {
    const instance = await transferInstance();
    const id = await upload(instance, file());
    await importUpload(instance, id);
    await instance.request('DELETE', `${PATH}?upload=${id}`);
    const { userId } = instance;
    const object = { bucket: 'transfers', path: `imports/${id}`, generation: '1' };
    expect(instance.events).toMatchObject([
      { event: 'import.uploadOpened', outcome: 'ok', userId, target: `imports/${id}` },
      { event: 'import.started', userId, object, orgIds: ['acme'] },
      { event: 'import.finished', outcome: 'ok', object },
      { event: 'import.uploadDeleted', outcome: 'ok', userId, object },
    ]);
    expect(instance.transfers.addresses).toHaveLength(1);
    expect(JSON.stringify(instance.events)).not.toContain('signature=');
  });

  it('that is unfinished, deleted or unknown is an error that names it', async () => {
    const instance = await transferInstance();
    const unfinished = await upload(instance, file(), file().subarray(1));
    const deleted = await upload(instance, file());
    expect((await instance.request('DELETE', `${PATH}?upload=${deleted}`)).status).toBe(200);
    for (const id of [unfinished, deleted, 'A'.repeat(22)])
      for (const response of [
        await importUpload(instance, id),
        await instance.request('DELETE', `${PATH}?upload=${id}`),
      ]) {
        const { status, message } = await refusal(response);
        expect(status).toBe(404);
        expect(message).toContain(`imports/${id}`);
      }
    expect(instance.events.map(({ event }) => event)).not.toContain('import.started');
  });

  it('of another caller is neither imported nor deleted', async () => {
    const instance = await transferInstance();
    const id = await upload(instance, file());
    const headers = { authorization: `Bearer ${await instance.createOwner()}` };
    for (const response of [
      await importUpload(instance, id, {}, headers),
      await instance.request('DELETE', `${PATH}?upload=${id}`, undefined, headers),
    ]) {
      const { status, message } = await refusal(response);
      expect(status).toBe(403);
      expect(message).toContain(`imports/${id} belongs to another caller`);
    }
    expect(instance.transfers.objects.size).toBe(1);
  });

  it('of another instance with the same bucket is not imported', async () => {
    const transfers = memoryTransfers();
    const [first, second] = [
      await transferInstance(undefined, { transfers }),
      await transferInstance(undefined, { transfers }),
    ];
    const opened = await first.request('POST', PATH, { upload: { size: file().length } });
    const { id, uri } = openedUpload.parse(await opened.json()).upload;
    transfers.send(uri, file());
    const { status, message } = await refusal(await importUpload(second, id));
    expect(status).toBe(403);
    expect(message).toContain('another instance');
  });

  it('that is replaced after it was found is an error, and nothing of its replacement is imported', async () => {
    const transfers = memoryTransfers();
    const replacing = {
      ...transfers,
      async find(...[kind, id, signal]: Parameters<typeof transfers.find>) {
        const found = await transfers.find(kind, id, signal);
        if (found !== undefined) transfers.replace(found.path, file('emca'));
        return found;
      },
    };
    const instance = await transferInstance(undefined, { transfers: replacing });
    const opened = await instance.request('POST', PATH, { upload: { size: file().length } });
    const { id, uri } = openedUpload.parse(await opened.json()).upload;
    transfers.send(uri, file());
    const { status, message } = await refusal(await importUpload(instance, id));
    expect(status).toBe(409);
    expect(message).toContain(`imports/${id}`);
    expect((await instance.export()).orgs).toEqual([]);
  });

  it.each([
    ['data_orgs', { data_orgs: { orgs: [] } }],
    ['data_orgs_upload', { data_orgs_upload: 'A'.repeat(22) }],
  ])('beside %s is an error that names both', async (field, source) => {
    const instance = await transferInstance();
    const response = await instance.request('POST', PATH, { upload: { size: 1 }, ...source });
    const { status, message } = await refusal(response);
    expect(status).toBe(400);
    expect(message).toMatch(/several sources/);
    expect(message).toContain(field);
    expect(instance.transfers.addresses).toEqual([]);
  });

  it('with options of an import is an error that names them', async () => {
    const instance = await transferInstance();
    const options = { dry_run: false, orgIds: ['acme'], on_conflict: null, timeout: '10s' };
    const response = await instance.request('POST', PATH, { upload: { size: 1 }, ...options });
    const { status, message } = await refusal(response);
    expect(status).toBe(400);
    expect(message).toBe(
      'dry_run: has no effect in a request that opens an upload: send the field in the request that imports the upload, with data_orgs_upload',
    );
    expect(instance.transfers.addresses).toEqual([]);
    const permitted = await instance.request('POST', PATH, { upload: { size: 1 }, timeout: '10s' });
    expect(permitted.status).toBe(200);
  });

  it('is the advice for a request above the limit if the instance has a bucket', async () => {
    for (const [transfers, advice] of [
      [memoryTransfers(), 'open an upload with the field upload, or upload the file to a bucket'],
      [undefined, 'upload the file to a bucket'],
    ] as const) {
      const instance = await transferInstance(undefined, { transfers, limits: { requestBytes: 100 } });
      const { status, message } = await refusal(await instance.request('POST', PATH, { data_orgs: 'x'.repeat(200) }));
      expect(status).toBe(413);
      expect(message).toBe(`the request body exceeds 100 bytes: ${advice} and set data_orgsv1_gcs`);
    }
  });

  it.each([{}, { size: 0 }, { size: -1 }, { size: 1.5 }, { size: '1' }, { size: 2 ** 50 }, null, 1])(
    'is not opened for %o',
    async (value) => {
      const instance = await transferInstance();
      const { status } = await refusal(await instance.request('POST', PATH, { upload: value }));
      expect(status).toBe(400);
      expect(instance.transfers.addresses).toEqual([]);
      expect(instance.events).toEqual([]);
    },
  );

  it.each(['', 'x', 'A'.repeat(23), '../exports/AAAAAAAAAAA'])('has no id "%s"', async (id) => {
    const { status, message } = await refusal(await importUpload(await transferInstance(), id));
    expect(status).toBe(400);
    expect(message).toMatch(/^data_orgs_upload: /);
  });

  it('needs the permission of an import', async () => {
    const instance = await transferInstance();
    const id = await upload(instance, file());
    const exporter = await instance.createOwner({ operations: ['export'] });
    for (const [token, status] of [['x', 401] as const, [exporter, 403] as const]) {
      const headers = { authorization: `Bearer ${token}` };
      expect((await instance.request('POST', PATH, { upload: { size: 1 } }, headers)).status).toBe(status);
      expect((await importUpload(instance, id, {}, headers)).status).toBe(status);
      expect((await instance.request('DELETE', `${PATH}?upload=${id}`, undefined, headers)).status).toBe(status);
    }
    expect(instance.transfers.addresses).toHaveLength(1);
    expect(instance.transfers.objects.size).toBe(1);
  });
});
