import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { createMetrics } from '../../../cli/commands/metrics.ts';
import { createApp, type Route } from '../../../shared/http/app.ts';
import { configureLog } from '../../../shared/log.ts';
import type { Running } from '../../../tools/program.ts';
import { identity } from '../../support/command.ts';
import { organisation, person } from '../../support/fixtures/organisations.ts';
import { parseMetrics } from '../../support/http/prometheus.ts';
import { openConnection, readAnswer } from '../../support/http/rawHttp.ts';
import { exportFrom, importInto } from '../../support/http/wire.ts';
import { init, serve } from '../../support/instances/commandInstance.ts';
import { type TemporaryDirectory, temporaryDirectory } from '../../support/processes/temporaryDirectory.ts';

const requests = (method: string, route: string, status: number) =>
  `identity_requests_total{method="${method}",route="${route}",status="${status}",rpc_code=""}`;

describe('identity serve with METRICS_PORT', () => {
  let directory: TemporaryDirectory = { path: '', remove: async () => {} };
  let running: Running;
  let instance = { url: '', token: '', database: undefined };
  let metricsUrl = '';

  beforeAll(async () => {
    directory = await temporaryDirectory();
    const { token } = await init(['--data', directory.path]);
    running = await serve(['--data', directory.path], [], { METRICS_PORT: '0' });
    await running.written('/metrics');
    metricsUrl = /^metrics at (\S+)$/m.exec(running.stdout())?.[1] ?? '';
    instance = { url: running.ready[1] ?? '', token, database: undefined };
  });
  afterAll(async () => {
    expect((await running.stop()).code).toBe(0);
    await directory.remove();
  });

  const scrape = async () => parseMetrics(await (await fetch(metricsUrl)).text());

  it('counts requests by the pattern of their route, without their paths', async () => {
    for (const id of ['secret1', 'secret2']) {
      await fetch(`${instance.url}/v2/users/${id}/otp_email`, { method: 'DELETE' });
      await fetch(`${instance.url}/${id}`);
    }
    const text = await (await fetch(metricsUrl)).text();
    const samples = parseMetrics(text);
    const route = '/v2/users/:userId/otp_email';
    expect(samples.get(requests('DELETE', route, 401))).toBe(2);
    expect(samples.get(requests('GET', 'unmatched', 404))).toBe(2);
    expect(samples.get(`identity_request_duration_seconds_count{route="${route}"}`)).toBe(2);
    expect(samples.get('identity_requests_in_flight')).toBe(0);
    expect(text).not.toContain('secret');
  });

  it('counts the documents that imports write and exports read', async () => {
    const before = await scrape();
    const people = Array.from({ length: 20 }, (_, index) => person(`P${index}`));
    await importInto(instance, { data_orgs: { orgs: [organisation('O', { humanUsers: people })] } });
    const between = await scrape();
    await exportFrom(instance, { org_ids: ['O'] });
    const after = await scrape();
    const difference = (name: string, [one, other]: readonly [typeof before, typeof before]) =>
      (other.get(name) ?? 0) - (one.get(name) ?? 0);
    // Each person is a record and the claim of its name.
    expect(difference('identity_documents_written_total', [before, between])).toBeGreaterThanOrEqual(40);
    expect(difference('identity_documents_written_total', [between, after])).toBe(0);
    expect(difference('identity_documents_read_total', [between, after])).toBeGreaterThanOrEqual(20);
    expect(after.get(requests('POST', '/admin/v1/import', 200))).toBe(1);
  });

  it('shows the write-ahead log, the delay of the event loop and the heap', async () => {
    const samples = await scrape();
    for (const name of [
      'identity_wal_bytes',
      'nodejs_eventloop_lag_p99_seconds',
      'nodejs_heap_size_used_bytes',
      'process_resident_memory_bytes',
    ]) {
      expect({ name, value: samples.get(name) }).toEqual({ name, value: expect.any(Number) });
    }
    expect(samples.get('identity_wal_bytes')).toBeGreaterThan(0);
  });

  it('serves nothing else on that port, and no metrics on the port of the instance', async () => {
    expect(new URL(metricsUrl).hostname).toBe('127.0.0.1');
    expect((await fetch(new URL('/openapi.json', metricsUrl))).status).toBe(404);
    expect((await fetch(`${instance.url}/metrics`)).status).toBe(404);
  });

  it.each([
    ['127.0.0.1:1', 200],
    ['localhost', 200],
    ['attacker.example', 403],
    ['127.0.0.1.attacker.example', 403],
  ])('serves metrics for this machine only: Host %s gets %i', async (host, status) => {
    const socket = await openConnection(metricsUrl);
    socket.write(`GET /metrics HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
    expect((await readAnswer(socket)).status).toBe(status);
    socket.destroy();
  });

  it('reports in one line that the port is taken or invalid', async () => {
    const other = await temporaryDirectory();
    onTestFinished(() => other.remove());
    await init(['--data', other.path]);
    const start = (port: string) => identity(['serve', '--data', other.path], { env: { METRICS_PORT: port } });
    const taken = await start(new URL(metricsUrl).port);
    expect(taken).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^identity: port \d+ is in use: .* METRICS_PORT .*\n$/),
    });
    expect(await start('65536')).toMatchObject({ code: 64, stderr: expect.stringContaining('METRICS_PORT must be') });
  });
});

describe('the metrics of requests', () => {
  it('have one value for all unknown methods', async () => {
    configureLog('silent');
    const { observer, render } = createMetrics(
      { kind: 'firestore', projectId: 'p', databaseId: 'd' },
      { read: 0, written: 0 },
    );
    const app = createApp({ routes: [], observer });
    for (const method of ['BREW', 'WHEN', 'GET']) await app.request('/x', { method });
    const samples = parseMetrics(await render());
    expect(samples.get(requests('other', 'unmatched', 404))).toBe(2);
    expect(samples.get(requests('GET', 'unmatched', 404))).toBe(1);
    expect(samples.has('identity_wal_bytes')).toBe(false);
  });

  it('show a request as in flight until its response', async () => {
    const { observer, render } = createMetrics(
      { kind: 'firestore', projectId: 'p', databaseId: 'd' },
      { read: 0, written: 0 },
    );
    const inFlight = async () => parseMetrics(await render()).get('identity_requests_in_flight');
    const route: Route = { method: 'GET', path: '/', handler: async (context) => context.json(await inFlight()) };
    const response = await createApp({ routes: [route], observer }).request('/');
    expect([await response.json(), await inFlight()]).toEqual([1, 0]);
  });
});
