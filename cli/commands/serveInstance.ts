import { once } from 'node:events';
import { allRoutes } from '../../functions/endpoints.ts';
import { openAudit } from '../../shared/audit/openAudit.ts';
import type { Config } from '../../shared/config.ts';
import { defined } from '../../shared/defined.ts';
import {
  hostNeedsProxy,
  hostUnknown,
  instanceMissing,
  portForbidden,
  portInUse,
} from '../../shared/errors/commandErrors.ts';
import { createApp } from '../../shared/http/app.ts';
import { docsRoutes } from '../../shared/http/docsPage.ts';
import { type RunningServer, serve } from '../../shared/http/server.ts';
import { configureLog } from '../../shared/log.ts';
import { openObjectStorage } from '../../shared/objectStorage/openObjectStorage.ts';
import { instanceKey } from '../../shared/store/instance.ts';
import { requireMasterKey } from '../../shared/store/openStore.ts';
import { lockServedDirectory } from '../../shared/store/servedDirectory.ts';
import type { Store } from '../../shared/store/store.ts';
import { systemCode } from '../../shared/systemCode.ts';
import { requireTemporaryDirectory } from '../exports/fileContent.ts';
import { isLoopback } from '../http/loopback.ts';
import { databaseName } from '../places/instanceLocation.ts';
import type { OpenInstance, Surroundings } from '../terminal/command.ts';
import { loadConfig } from '../terminal/configuration.ts';

interface ServerSettings {
  readonly host: string;
  readonly port: number;
  readonly docs: boolean;
}

export async function serveInstance(
  call: Surroundings & OpenInstance,
  { host, port, docs }: ServerSettings,
): Promise<void> {
  const { store, signal, stdout, stderr, print } = call;
  const config = loadConfig(call);
  if (config.trustedProxies === 0 && !isLoopback(host)) throw hostNeedsProxy({ host });
  requireMasterKey(call.location);
  await requireTemporaryDirectory();
  // This read fails if the master key or the format of the database is wrong. The process then ends at startup and not
  // at the first request.
  const [instance] = await store.getMany([instanceKey], []);
  if (instance === undefined) throw instanceMissing({ directory: databaseName(call.location) });
  configureLog(config.logLevel, stderr);
  await using resources = new AsyncDisposableStack();
  const lock = await lockServedDirectory(call.location);
  if (lock !== undefined) resources.use(lock);
  const metrics = await startMetrics(config, store);
  resources.defer(async () => void (await metrics?.server.close()));
  // Standard output contains only the server's address, so log lines go to standard error.
  const audit = openAudit(store, config, stderr);
  resources.defer(() => audit.close());
  const routes = await allRoutes({
    ...config,
    store,
    audit,
    objectStorage: openObjectStorage(),
    now: () => new Date(),
  });
  const app = createApp({
    ...config,
    routes: docs ? [...routes, ...docsRoutes()] : routes,
    ...defined({ observer: metrics?.observer }),
  });
  const address = { host, port };
  const server = await listen({ ...address, setting: '--port' }, () =>
    serve({ app, ...address, drainMs: config.shutdownMs, limits: config.limits }),
  );
  resources.defer(async () => void (await server.close()));
  const addresses = { url: server.url, ...defined({ metrics: metrics && `${metrics.server.url}/metrics` }) };
  const text = [`listening on ${addresses.url}`];
  if (addresses.metrics !== undefined) text.push(`metrics at ${addresses.metrics}`);
  if (stdout.isTTY === true) text.push('Ctrl-C stops the server');
  await print({ json: addresses, text });
  if (!signal.aborted) await once(signal, 'abort');
}

/** Loads the package `prom-client` only if the configuration contains a port for metrics. */
async function startMetrics({ metricsPort, storeLocation }: Config, store: Store) {
  if (metricsPort === undefined) return undefined;
  const { createMetrics, serveMetrics } = await import('./metrics.ts');
  const metrics = createMetrics(storeLocation, store.counts);
  const address = { host: '127.0.0.1', port: metricsPort, setting: 'METRICS_PORT' };
  const server = await listen(address, () => serveMetrics(metrics, metricsPort));
  return { observer: metrics.observer, server };
}

/** An address to listen on. `setting` is the name of the setting that changes the port. */
interface Address {
  readonly host: string;
  readonly port: number;
  readonly setting: string;
}

const errors: Readonly<Record<string, (address: Address) => Error>> = {
  EACCES: ({ port, setting }) => portForbidden({ port, setting }),
  EADDRINUSE: ({ port, setting }) => portInUse({ port, setting }),
  EADDRNOTAVAIL: ({ host }) => hostUnknown({ host }),
  ENOTFOUND: ({ host }) => hostUnknown({ host }),
};

/** @throws IdentityError if the address is not available; the message contains the setting to change */
export async function listen(address: Address, start: () => Promise<RunningServer>): Promise<RunningServer> {
  try {
    return await start();
  } catch (error) {
    throw errors[systemCode(error)]?.(address) ?? error;
  }
}
