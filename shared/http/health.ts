import { z } from 'zod';
import { raceAbort } from '../async.ts';
import { storeUnavailable } from '../errors/storeErrors.ts';
import type { Endpoint, OperationDescription } from '../openapi/endpoint.ts';
import { checkFormat } from '../store/instance.ts';
import type { Store } from '../store/store.ts';
import type { Route } from './app.ts';
import { jsonResponse } from './responses.ts';

const CACHE_MS = 1_000;
/** The time limit of a readiness check in milliseconds. It is short, because probes time out after a few seconds. */
const LIMIT_MS = 2_000;

const alive = z.strictObject({ status: z.literal('ok') }).meta({ id: 'Health' });
const ready = z.strictObject({ status: z.literal('ready') }).meta({ id: 'Readiness' });

const health: OperationDescription = {
  operationId: 'health',
  tag: 'Probes',
  isPublic: true,
  summary: 'Check that the process is alive',
  description: 'Does not query the database.',
  response: { description: 'The process handles requests.', contract: alive },
  errors: {},
};

const readiness: OperationDescription = {
  operationId: 'readiness',
  tag: 'Probes',
  isPublic: true,
  summary: 'Check that requests can succeed',
  description: 'Reads one document, at most once a second.',
  response: { description: 'The database is reachable, and this version can read it.', contract: ready },
  errors: { 503: 'The database is unavailable, or has another format, or the process is shutting down.' },
};

/**
 * The endpoints for probes. Each check has two paths, because Kubernetes expects the paths that end in `z`, but Cloud
 * Run reserves some of them. The OpenAPI document describes only one of the two paths.
 */
export const healthEndpoints: readonly Endpoint[] = [
  { method: 'GET', path: '/health', operation: () => health },
  { method: 'GET', path: '/healthz' },
  { method: 'GET', path: '/ready', operation: () => readiness },
  { method: 'GET', path: '/readyz' },
];

export function healthRoutes(store: Store): readonly Route[] {
  const checkReadiness = cached(() => checkDatabase(store));
  const respondReady = async () => {
    await checkReadiness();
    return jsonResponse({ status: 'ready' });
  };
  const routes = healthEndpoints.map((endpoint) => ({
    ...endpoint,
    handler: endpoint.path.startsWith('/ready') ? respondReady : respondAlive,
  }));
  // Load balancers and monitors probe the path `/` if no other path is configured.
  return forMonitors([...routes, { method: 'GET', path: '/', handler: respondAlive }]);
}

export function respondAlive(): Response {
  return jsonResponse({ status: 'ok' });
}

/**
 * Returns the routes, but they also accept repeated slashes and a final slash. Adds a route with the method OPTIONS for
 * each path. Some load balancers send requests with such paths or with this method.
 */
export function forMonitors(routes: readonly Route[]): readonly Route[] {
  return routes.flatMap((route) => [
    { ...route, isLenient: true },
    { method: 'OPTIONS', path: route.path, handler: respondOptions },
  ]);
}

function respondOptions(): Response {
  return new Response(null, { status: 204, headers: { allow: 'GET, HEAD, OPTIONS' } });
}

async function checkDatabase(store: Store): Promise<void> {
  const controller = new AbortController();
  const { signal } = controller;
  const timer = setTimeout(() => controller.abort(storeUnavailable()), LIMIT_MS);
  try {
    await raceAbort(checkFormat(store.forCall({ signal })), signal);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Returns a function that calls `compute` and caches its result or its error, until `CACHE_MS` after the call began.
 */
function cached<Result>(compute: () => Promise<Result>): () => Promise<Result> {
  let last: { readonly startedAt: number; readonly result: Promise<Result> } | undefined;
  return () => {
    const now = performance.now();
    if (last === undefined || now - last.startedAt >= CACHE_MS) last = { startedAt: now, result: compute() };
    return last.result;
  };
}
