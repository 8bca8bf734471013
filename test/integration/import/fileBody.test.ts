import { PassThrough } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { EXPORT_FILE } from '../../../functions/import/contract.ts';
import { configureLog } from '../../../shared/log.ts';
import { memoryTrail } from '../../support/audit/memoryTrail.ts';
import { organisation, person } from '../../support/fixtures/organisations.ts';
import {
  importReport,
  type ReplacedPorts,
  servedInstance,
  testInstance,
} from '../../support/instances/testInstance.ts';
import { openTestStore, sqlite } from '../../support/stores/stores.ts';
import { watchedStore } from '../../support/stores/watchedStore.ts';

/** An instance, and a call of its import whose body is the file. */
async function fileInstance(replaced: ReplacedPorts = {}) {
  const store = await openTestStore(sqlite);
  const instance = await testInstance(store, 'test', replaced);
  const importFile = async (query: string, orgs: readonly object[], at = instance) => {
    const headers = { authorization: `Bearer ${at.token}`, 'content-type': EXPORT_FILE };
    const body = JSON.stringify({ orgs });
    const response = await at.app.request(`/admin/v1/import${query}`, { method: 'POST', body, headers });
    return { status: response.status, text: await response.text() };
  };
  const sendFile = async (body: string | Buffer<ArrayBuffer>) => {
    const headers = { authorization: `Bearer ${instance.token}`, 'content-type': EXPORT_FILE };
    const response = await instance.app.request('/admin/v1/import', { method: 'POST', body, headers });
    return { status: response.status, text: await response.text() };
  };
  return { store, instance, importFile, sendFile };
}

const file = [organisation('O', { humanUsers: [person('ada'), person('bob')] })];
const plain = JSON.stringify({ orgs: file });

describe('an import whose body is the file', () => {
  it('is audited like one in the JSON form', async () => {
    const { audit, events } = memoryTrail();
    const { instance, importFile } = await fileInstance({ audit });
    await instance.import({ data_orgs: { orgs: file }, with_keys: true, dry_run: true, on_conflict: 'skip' });
    const ofJson = events.splice(0);
    await importFile('?with_keys=true&dry_run=true&on_conflict=skip', file);
    const withoutCall = (list: typeof events) => list.map(({ time: _time, requestId: _id, ...event }) => event);
    expect(withoutCall(events)).toEqual(withoutCall(ofJson));
    expect(events[0]).toMatchObject({ flags: ['with_keys', 'dry_run', 'on_conflict=skip'] });
  });

  it('counts organisations before it reads them, as in the JSON form', async () => {
    const { importFile } = await fileInstance({ limits: { organisations: 3 } });
    const { status, text } = await importFile(
      '',
      Array.from({ length: 4 }, () => ({ org: 'no object' })),
    );
    expect({ status, text }).toEqual({ status: 413, text: expect.stringContaining('more than 3 organisations') });
  });

  it.each(['the file, continued by the JSON form', 'the JSON form, continued by the file'])(
    'is one import with %s',
    async (order) => {
      const { store, instance, importFile } = await fileInstance();
      const people = Array.from({ length: 2_000 }, (_, index) => person(`P${index}`));
      const orgs = [organisation('O', { humanUsers: people })];
      let left = 4;
      const dying = watchedStore(store, () => {
        if (left-- <= 0) throw new Error('killed');
      });
      const stopped = servedInstance(dying, instance);
      const asFile = (at: typeof instance) => importFile('?on_conflict=skip', orgs, at);
      const asJson = (at: typeof instance) => at.attempt('import', { data_orgs: { orgs }, on_conflict: 'skip' });
      const [first, second] = order.startsWith('the file') ? [asFile, asJson] : [asJson, asFile];
      expect((await first(stopped)).status).toBe(500);
      const { summary } = importReport.parse(JSON.parse((await second(instance)).text));
      expect(summary).toMatchObject({ unchanged: { org: 1, humanUsers: expect.any(Number) }, failed: {} });
    },
  );

  it('has nothing of its query in the log, even if it is rejected', async () => {
    const { importFile } = await fileInstance();
    const log = new PassThrough({ encoding: 'utf8' });
    configureLog('info', log);
    expect((await importFile('?org_ids=PRIVATE', file)).status).toBe(200);
    expect((await importFile('?data_orgs_gcs=PRIVATE&PRIVATE=1', file)).status).toBe(400);
    const logged = String(log.read());
    expect(logged.match(/"route":"\/admin\/v1\/import"/g)).toHaveLength(2);
    expect(logged).not.toContain('PRIVATE');
  });

  it('is rejected before its file is read if the query is invalid', async () => {
    const { instance } = await fileInstance();
    let pulled = 0;
    const body = new ReadableStream<Uint8Array>(
      {
        pull(controller) {
          pulled++;
          controller.enqueue(new Uint8Array(1_000));
        },
      },
      { highWaterMark: 0 },
    );
    const headers = { authorization: `Bearer ${instance.token}`, 'content-type': EXPORT_FILE };
    const request = new Request('http://test/admin/v1/import?timeout=soon', {
      method: 'POST',
      body,
      headers,
      duplex: 'half',
    });
    expect((await instance.app.request(request)).status).toBe(400);
    expect(pulled).toBe(0);
  });

  it('is rejected when it decompresses to more than the limit of a request', async () => {
    const { sendFile } = await fileInstance({ limits: { requestBytes: 100_000 } });
    const { status, text } = await sendFile(gzipSync(`${plain}${' '.repeat(100_000)}`));
    expect({ status, text }).toEqual({ status: 413, text: expect.stringContaining('exceeds 100000 bytes') });
  });
});
