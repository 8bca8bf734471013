import type { ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { calling, identity, identityResult } from '../../support/command.ts';
import { organisation, person } from '../../support/fixtures/organisations.ts';
import { exportFileWith } from '../../support/migrations/migrating.ts';
import { startFakeInstance } from '../../support/places/fakeInstance.ts';
import { tokenFileWith } from '../../support/zitadel/placeOfZitadel.ts';

const TOKEN = 'some-token';
const LIMIT = 1_000;
const crowd = organisation('acme', {
  humanUsers: Array.from({ length: 30 }, (_, number) => person(`person-${number}`)),
});

const summary = {
  created: { org: 1, humanUsers: 30 },
  unchanged: {},
  failed: {},
  notCarried: {},
  warnings: [],
  proved: true,
};
const progress = (created: object) => ({
  event: 'progress',
  phase: 1,
  phases: 5,
  records: { created },
  total: { org: 1, humanUsers: 30 },
});
const result = { event: 'result', response: { success: {}, summary } };

/** A response to a request: its lines, after which the connection may break. */
interface Answer {
  readonly status?: number;
  readonly lines: readonly unknown[];
  readonly breaks?: boolean;
}

function answer(response: ServerResponse, { status = 200, lines, breaks = false }: Answer): void {
  const body = lines.map((line) => `${JSON.stringify(line)}\n`).join('');
  response.writeHead(status, { 'content-type': status === 200 ? 'application/x-ndjson' : 'application/json' });
  response.write(body, () => {
    if (breaks) response.destroy();
    else response.end();
  });
}

const request = z.looseObject({ upload: z.looseObject({ size: z.number() }).optional() });

/** Starts an instance that takes uploads. Its imports are answered in the given order, and the last answer is repeated. */
async function startInstance(imports: readonly Answer[], deletion: Answer = { lines: [{}] }) {
  const requests: object[] = [];
  const files: string[] = [];
  const remaining = [...imports];
  const instance = await startFakeInstance(
    async (response) => {
      const { method, url = '', headers } = response.req;
      const body = await text(response.req);
      if (method === 'PUT') {
        files.push(body);
        expect(headers.authorization).toBeUndefined();
        return answer(response, { lines: [{}] });
      }
      expect(headers.authorization).toBe(`Bearer ${TOKEN}`);
      if (method === 'DELETE') {
        requests.push({ deleted: url });
        return answer(response, deletion);
      }
      const { upload, ...others } = request.parse(JSON.parse(body));
      requests.push(upload ?? others);
      if (upload === undefined)
        return answer(response, (remaining.length > 1 ? remaining.shift() : remaining[0]) ?? { lines: [] });
      const uri = `${instance.url}/session?secret=uri`;
      return answer(response, { lines: [{ upload: { id: 'U', uri, expiresAt: '2026-01-02T03:04:05Z' } }] });
    },
    { requestBytes: LIMIT, transfers: true },
  );
  const call = async (...more: readonly string[]) => [
    ...['import', await exportFileWith(crowd), '--to', instance.url],
    ...['--token-file', await tokenFileWith(TOKEN), ...more],
  ];
  return { url: instance.url, requests, files, call };
}

const size = Buffer.byteLength(JSON.stringify({ orgs: [crowd] }));
const deleted = { deleted: '/admin/v1/import?upload=U' };
const imported = expect.objectContaining({ data_orgs_upload: 'U', dry_run: false });

describe('an import of a file above the limit of a request', () => {
  it('is uploaded whole, imported with the options of the call, and deleted', async () => {
    const { requests, files, call } = await startInstance([{ lines: [progress({ org: 1 }), result] }]);
    const options = ['--on-conflict', 'overwrite', '--exclude-org', 'x', '--timeout', '30m'];
    expect(await identityResult(await call(...options))).toMatchObject({ code: 0, summary });
    expect(files).toEqual([JSON.stringify({ orgs: [crowd] })]);
    expect(requests).toEqual([
      { size },
      expect.objectContaining({
        data_orgs_upload: 'U',
        on_conflict: 'overwrite',
        excluded_org_ids: ['x'],
        timeout: '1800000ms',
        with_keys: true,
      }),
      deleted,
    ]);
  });

  it('shows the progress of the upload in bytes', async () => {
    const { call } = await startInstance([{ lines: [progress({ org: 1 }), result] }]);
    const { stdout } = await identity([...(await call()), '--json']);
    const events = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(events.filter(({ event }) => event === 'phase')).toMatchObject([
      { phase: 'reading', records: 31 },
      { phase: 'uploading', bytes: size },
      { phase: 'importing', records: 31 },
    ]);
  });

  it.each([
    [
      'the time limit of a request',
      { lines: [{ event: 'error', error: { code: 4, message: 'the timeout expired' } }] },
    ],
    ['a gateway that gives up', { status: 504, lines: ['gateway timeout'] }],
    ['a broken connection', { lines: [progress({})], breaks: true }],
  ])('sends the same request again after %s', async (_what, failure) => {
    const { requests, files, call } = await startInstance([failure, { lines: [result] }]);
    const { code, stderr } = await identity(await call());
    expect(code, stderr).toBe(0);
    expect(stderr).toContain('trying again in 1 s');
    expect(files).toHaveLength(1);
    expect(requests).toEqual([{ size }, imported, imported, deleted]);
    expect(requests[1]).toEqual(requests[2]);
  });

  it('warns that records of an interrupted request count as unchanged', async () => {
    const broken = { lines: [progress({ org: 1, humanUsers: 5 })], breaks: true };
    const unchanged = { org: 1, humanUsers: 5 };
    const last = { ...result, response: { success: {}, summary: { ...summary, unchanged } } };
    const { call } = await startInstance([broken, { lines: [last] }]);
    const warning = { type: 'import', message: expect.stringMatching(/^the import took several requests/) };
    expect(await identityResult(await call())).toMatchObject({ code: 0, summary: { unchanged, warnings: [warning] } });
  });

  it('is repeated only within the time that the call has set, and deleted then', async () => {
    const failure = { lines: [{ event: 'error', error: { code: 4, message: 'the timeout expired' } }] };
    const { requests, call } = await startInstance([failure]);
    await calling()(await call('--timeout', '1s'), 1, 'the timeout expired');
    expect(requests).toEqual([{ size }, imported, imported, deleted]);
  });

  it.each([
    ['requires new organisations again if none was written', {}, 'fail'],
    ['does not refuse the organisations that it has written', { org: 1 }, 'report'],
  ])('with --on-conflict fail, %s', async (_what, created, repeated) => {
    const broken = { lines: [progress(created)], breaks: true };
    const { requests, call } = await startInstance([broken, { lines: [result] }]);
    await calling()(await call('--on-conflict', 'fail'), 0);
    expect(requests).toMatchObject([{ size }, { on_conflict: 'fail' }, { on_conflict: repeated }, deleted]);
  });

  it('names a refused file that cannot be deleted', async () => {
    const refused = { status: 400, lines: [{ code: 3, message: 'the file is invalid' }] };
    const { url, call } = await startInstance([refused], { status: 503, lines: [{ message: 'not now' }] });
    const { stderr } = await identity(await call());
    expect(stderr).toContain(`the file is invalid; the file of the import remains in the bucket of ${url}`);
  });

  it('warns of a file that cannot be deleted, and not of one that is gone', async () => {
    const failing = await startInstance([{ lines: [result] }], { status: 503, lines: [{ message: 'not now' }] });
    const warning = `the file of the import remains in the bucket of ${failing.url} for up to two days: it could not be deleted (${failing.url} failed: status 503: not now)`;
    expect(await identityResult(await failing.call())).toMatchObject({
      code: 0,
      summary: { warnings: [{ type: 'upload', reason: 'file_kept', message: warning }] },
    });
    const gone = await startInstance([{ lines: [result] }], { status: 404, lines: [{ message: 'gone' }] });
    expect(await identityResult(await gone.call())).toMatchObject({ code: 0, summary: { warnings: [] } });
  });

  it.each([
    ['the address for an upload', true, 'returned no address for an upload (content type: text/html)'],
    ['the result', false, 'returned no result of the import (content type: text/html)'],
  ])('names the content type of a page instead of %s', async (_what, isFirst, problem) => {
    const instance = await startFakeInstance(
      async (response) => {
        const { method } = response.req;
        const body = await text(response.req);
        const uri = `${instance.url}/session`;
        if (method !== 'POST') return response.end('{}');
        if (!isFirst && body.includes('"upload"')) return response.end(JSON.stringify({ upload: { id: 'U', uri } }));
        return response.writeHead(200, { 'content-type': 'text/html' }).end('<html></html>');
      },
      { requestBytes: LIMIT, transfers: true },
    );
    const file = await exportFileWith(crowd);
    const call = ['import', file, '--to', instance.url, '--token-file', await tokenFileWith(TOKEN)];
    await calling()(call, 1, `${instance.url} ${problem}`);
  });

  it('is an error that names the limit if the instance has no bucket', async () => {
    const instance = await startFakeInstance((response) => void response.end(), { requestBytes: LIMIT });
    const file = await exportFileWith(crowd);
    const call = ['import', file, '--to', instance.url, '--token-file', await tokenFileWith(TOKEN)];
    const problem = `the file exceeds the limit of ${instance.url}, 1,000 bytes in a request: raise MAX_REQUEST_BYTES of a self-hosted instance, import into its database (--to firestore:PROJECT/DATABASE or sqlite:DIR), or request the import of an object in Cloud Storage with data_orgs_gcs`;
    await calling()(call, 1, problem);
  });
});
