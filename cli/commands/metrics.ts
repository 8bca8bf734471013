import { statSync } from 'node:fs';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { hostNotLocal } from '../../shared/errors/httpErrors.ts';
import { createApp, type Route } from '../../shared/http/app.ts';
import type { RequestObserver } from '../../shared/http/requestLog.ts';
import { type RunningServer, serve } from '../../shared/http/server.ts';
import { databaseFile, type StoreLocation } from '../../shared/store/openStore.ts';
import type { DocumentCounts } from '../../shared/store/store.ts';

/**
 * The upper bounds of the histogram in seconds. Their range is wide, because the removal of a factor takes
 * milliseconds, and an import can take an hour.
 */
const DURATION_BUCKETS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1_800, 3_600];
/**
 * The label for requests that match no route. The path of such a request cannot be the label, because paths may contain
 * ids, so that the number of labels would have no limit.
 */
const UNMATCHED = 'unmatched';

export interface Metrics {
  readonly observer: RequestObserver;
  render(): Promise<string>;
  readonly contentType: string;
}

export function createMetrics({ directory }: StoreLocation, counts: DocumentCounts): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  addDocumentCounts(registry, counts);
  if (directory !== undefined) addLogSize(registry, `${databaseFile(directory)}-wal`);
  return {
    observer: createObserver(registry),
    render: () => registry.metrics(),
    contentType: registry.contentType,
  };
}

function createObserver(registry: Registry): RequestObserver {
  const registers = [registry];
  const inFlight = new Gauge({
    name: 'identity_requests_in_flight',
    help: 'Requests whose responses are not complete.',
    registers,
  });
  const requests = new Counter({
    name: 'identity_requests_total',
    help: 'Finished requests, by route pattern, HTTP status and the code of an RPC error.',
    labelNames: ['method', 'route', 'status', 'rpc_code'],
    registers,
  });
  const durations = new Histogram({
    name: 'identity_request_duration_seconds',
    help: 'The time from the headers of a request to the last byte of its response.',
    labelNames: ['route'],
    buckets: DURATION_BUCKETS,
    registers,
  });
  return {
    started: () => inFlight.inc(),
    finished({ method, route = UNMATCHED, status, rpcCode = '', milliseconds }) {
      inFlight.dec();
      requests.inc({ method, route, status, rpc_code: rpcCode });
      durations.observe({ route }, milliseconds / 1_000);
    },
  };
}

function addDocumentCounts(registry: Registry, counts: DocumentCounts): void {
  const add = (name: string, help: string, count: () => number) =>
    new Counter({
      name,
      help,
      registers: [registry],
      collect() {
        this.reset();
        this.inc(count());
      },
    });
  add('identity_documents_written_total', 'Documents written to the database.', () => counts.written);
  add('identity_documents_read_total', 'Documents read from the database.', () => counts.read);
}

function addLogSize(registry: Registry, file: string): void {
  new Gauge({
    name: 'identity_wal_bytes',
    help: "The size of the embedded database's write-ahead log.",
    registers: [registry],
    collect() {
      this.set(statSync(file, { throwIfNoEntry: false })?.size ?? 0);
    },
  });
}

/** Serves `GET /metrics`. The route requires no token, so only this machine can reach it, at 127.0.0.1. */
export function serveMetrics({ render, contentType }: Metrics, port: number): Promise<RunningServer> {
  const route: Route = {
    method: 'GET',
    path: '/metrics',
    handler: async ({ req }) => {
      // Prevents DNS rebinding: a web page could reach 127.0.0.1 under its own host name.
      if (!['127.0.0.1', 'localhost'].includes(new URL(req.url).hostname)) throw hostNotLocal();
      return new Response(await render(), { headers: { 'content-type': contentType } });
    },
  };
  return serve({ app: createApp({ routes: [route] }), host: '127.0.0.1', port, drainMs: 0 });
}
