import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { EXPORT_FILE } from '../../../functions/import/contract.ts';
import { configureLog } from '../../../shared/log.ts';
import { memoryTrail } from '../../support/audit/memoryTrail.ts';
import { organisation, person } from '../../support/fixtures/organisations.ts';
import { type ReplacedPorts, testInstance } from '../../support/instances/testInstance.ts';
import { openTestStore, sqlite } from '../../support/stores/stores.ts';

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
  return { instance, importFile };
}

const file = [organisation('O', { humanUsers: [person('ada'), person('bob')] })];

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
});
