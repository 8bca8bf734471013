import { allRoutes } from '../../functions/endpoints.ts';
import { openAudit } from '../../shared/audit/openAudit.ts';
import type { Config } from '../../shared/config.ts';
import { createApp } from '../../shared/http/app.ts';
import { docsRoutes } from '../../shared/http/docs.ts';
import { serve as serveApp } from '../../shared/http/serve.ts';
import { configureLog } from '../../shared/log.ts';
import { createCloudStorage } from '../../shared/objectStorage/cloudStorage.ts';
import { instanceKey } from '../../shared/store/format.ts';
import { requireMasterKey } from '../../shared/store/openStore.ts';
import { loadConfig, type Run, UsageError } from '../command.ts';
import { countedStore } from '../metrics/countedStore.ts';

/** Runs `identity serve`: the three functions on one port, until a signal stops the process. */
export const serve: Run = async (invocation) => {
  const { store, options, flags, signal } = invocation;
  const config = loadConfig(invocation);
  requireMasterKey(invocation.location);
  // A database with another master key, or a newer format, fails now and not at the first request.
  await store.getMany([instanceKey], []);
  // Standard output is for the address.
  const audit = await openAudit(config, process.stderr);
  configureLog(config.logLevel, process.stderr);
  const metrics = await startMetrics(config);
  const routes = await allRoutes({
    ...config,
    store: metrics === undefined ? store : countedStore(store, metrics.documents),
    audit,
    objectStorage: createCloudStorage(),
    now: () => new Date(),
  });
  const app = createApp({
    ...config,
    routes: flags.has('docs') ? [...routes, ...docsRoutes] : routes,
    ...(metrics && { observer: metrics.observer }),
  });
  const server = await serveApp({
    app,
    host: options.host ?? '127.0.0.1',
    port: parsePort(options.port ?? '8080'),
    drainMs: config.shutdownMs,
    limits: config.limits,
  });
  process.stdout.write(`listening on ${server.url}\n`);
  if (metrics !== undefined) process.stdout.write(`metrics at ${metrics.server.url}/metrics\n`);
  await aborted(signal);
  await server.close();
  await audit.close();
  await metrics?.server.close();
  return undefined;
};

/** Starts to measure, and serves the metrics, if a port is configured. Only then does their package load. */
async function startMetrics({ metricsPort, storeLocation }: Config) {
  if (metricsPort === undefined) return undefined;
  const { createMetrics, serveMetrics } = await import('../metrics/metrics.ts');
  const metrics = createMetrics(storeLocation);
  return { ...metrics, server: await serveMetrics(metrics, metricsPort) };
}

function parsePort(text: string): number {
  const port = Number(text);
  if (/^\d{1,5}$/.test(text) && port < 65_536) return port;
  throw new UsageError(`invalid --port ${text}: specify a number from 0 to 65535 (0 picks a free port)`);
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
