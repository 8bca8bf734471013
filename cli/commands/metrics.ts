// Prometheus metrics of a server, and the store decorator that counts documents.

import { statSync } from 'node:fs';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { hostNotLocal } from '../../shared/errors/httpErrors.ts';
import { createApp, type Route } from '../../shared/http/app.ts';
import type { RequestObserver } from '../../shared/http/requestLog.ts';
import { type RunningServer, serve } from '../../shared/http/server.ts';
import { databaseFile, type StoreLocation } from '../../shared/store/openStore.ts';
import type { EveryMember, Reader, Snapshot, Store, Transaction, TransactionWork } from '../../shared/store/store.ts';

/** In seconds, from the removal of a factor to a long import. */
const DURATION_BUCKETS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1_800, 3_600];
/** The label of requests without a matching route. Paths are no labels: they contain ids and are unbounded. */
const UNMATCHED = 'unmatched';

/** The metrics of a process, for Prometheus. */
export interface Metrics {
  readonly observer: RequestObserver;
  readonly documents: DocumentCounts;
  /** Renders all metrics in Prometheus' text format. */
  render(): Promise<string>;
  readonly contentType: string;
}

/** Creates the metrics of this process, and of the database at a location. */
export function createMetrics({ directory }: StoreLocation): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  if (directory !== undefined) addLogSize(registry, `${databaseFile(directory)}-wal`);
  return {
    observer: createObserver(registry),
    documents: createDocumentCounts(registry),
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

function createDocumentCounts(registry: Registry): DocumentCounts {
  const registers = [registry];
  const help = (verb: string) => `Documents of the database ${verb} by requests.`;
  const written = new Counter({ name: 'identity_documents_written_total', help: help('written'), registers });
  const read = new Counter({ name: 'identity_documents_read_total', help: help('read'), registers });
  return { written: (documents) => written.inc(documents), read: (documents) => read.inc(documents) };
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

/** Serves `GET /metrics` on a port of this machine only, without a token. */
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

/** Counters of the documents that a store has written and read. */
export interface DocumentCounts {
  written(documents: number): void;
  read(documents: number): void;
}

/** Returns a store that counts the documents of its successful operations. */
export function countedStore(store: Store, counts: DocumentCounts): Store {
  const { forCall, durable, commitsInFlight, recordsPerCommit, snapshotLifetimeMs, trail, lock } = store;
  const counted: EveryMember = {
    getMany: countedReads(store, counts),
    commit: async (writes) => {
      await store.commit(writes);
      counts.written(writes.length);
    },
    transaction: async <Result>(work: TransactionWork<Result>, until?: AbortSignal) => {
      let written = 0;
      const result = await store.transaction<Result>((transaction, earlier) => {
        // A conflict runs the work again.
        written = 0;
        const { hold, record, changedAfter } = transaction;
        const counting: Transaction = {
          getMany: countedReads(transaction, counts),
          write: (writes) => {
            written += writes.length;
            transaction.write(writes);
          },
          hold,
          record,
          changedAfter,
        };
        return work(counting, earlier);
      }, until);
      counts.written(written);
      return result;
    },
    snapshot: async () => countedSnapshot(await store.snapshot(), counts),
    forCall: forCall && ((call) => countedStore(forCall(call), counts)),
    durable,
    commitsInFlight,
    recordsPerCommit,
    snapshotLifetimeMs,
    trail,
    lock,
    close: () => store.close(),
  };
  return counted;
}

function countedReads(reader: Reader, counts: DocumentCounts): Reader['getMany'] {
  return async (keys, fields) => {
    const documents = await reader.getMany(keys, fields);
    counts.read(documents.filter((document) => document !== undefined).length);
    return documents;
  };
}

function countedSnapshot(snapshot: Snapshot, counts: DocumentCounts): Snapshot {
  return {
    readTime: snapshot.readTime,
    getMany: countedReads(snapshot, counts),
    scan: async function* (range) {
      for await (const documents of snapshot.scan(range)) {
        counts.read(documents.length);
        yield documents;
      }
    },
    [Symbol.asyncDispose]: () => snapshot[Symbol.asyncDispose](),
  };
}
