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
import { certificateFiles, readCertificate, renewOnSignal } from '../certificates.ts';
import type { Run } from '../command.ts';
import { loadConfig } from '../configuration.ts';
import { listen } from '../listen.ts';
import { countedStore } from '../metrics/countedStore.ts';

/** Runs `identity serve`: the three functions on one port, until a signal stops the process. */
export const serve: Run = async (invocation) => {
  const { store, options, flags, signal } = invocation;
  const certificates = certificateFiles(options);
  const config = loadConfig(invocation);
  requireMasterKey(invocation.location);
  // A database with another master key, or another format, fails now and not at the first request.
  await store.getMany([instanceKey], []);
  configureLog(config.logLevel, process.stderr);
  const certificate = certificates && (await readCertificate(certificates));
  await using resources = new AsyncDisposableStack();
  const metrics = await startMetrics(config);
  resources.defer(async () => void (await metrics?.server.close()));
  // Standard output is for the address.
  const audit = await openAudit(config, process.stderr);
  resources.defer(() => audit.close());
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
  const limits = { ...config.limits, trustedProxies: config.trustedProxies };
  const address = { host: options.host ?? '127.0.0.1', port: Number(options.port ?? '8080') };
  const server = await listen({ ...address, setting: '--port' }, () =>
    serveApp({ app, ...address, drainMs: config.shutdownMs, limits, certificate }),
  );
  resources.defer(async () => void (await server.close()));
  if (certificates !== undefined) resources.use(renewOnSignal(certificates, server));
  process.stdout.write(`listening on ${server.url}\n`);
  if (metrics !== undefined) process.stdout.write(`metrics at ${metrics.server.url}/metrics\n`);
  await aborted(signal);
  return undefined;
};

/** Starts to measure, and serves the metrics, if a port is configured. Only then does their package load. */
async function startMetrics({ metricsPort, storeLocation }: Config) {
  if (metricsPort === undefined) return undefined;
  const { createMetrics, serveMetrics } = await import('../metrics/metrics.ts');
  const metrics = createMetrics(storeLocation);
  const address = { host: '127.0.0.1', port: metricsPort, setting: 'METRICS_PORT' };
  return { ...metrics, server: await listen(address, () => serveMetrics(metrics, metricsPort)) };
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
