import { allRoutes } from '../../functions/endpoints.ts';
import { openAudit } from '../../shared/audit/openAudit.ts';
import type { Config } from '../../shared/config.ts';
import { hostUnknown, portForbidden, portInUse } from '../../shared/errors/commandErrors.ts';
import { createApp } from '../../shared/http/app.ts';
import { docsRoutes } from '../../shared/http/docs.ts';
import { type RunningServer, serve as serveApp } from '../../shared/http/serve.ts';
import { configureLog } from '../../shared/log.ts';
import { createCloudStorage } from '../../shared/objectStorage/cloudStorage.ts';
import { instanceKey } from '../../shared/store/format.ts';
import { requireMasterKey } from '../../shared/store/openStore.ts';
import { systemCode } from '../../shared/systemCode.ts';
import type { OpenInstance, Surroundings } from '../command.ts';
import { loadConfig } from '../configuration.ts';
import { countedStore } from '../metrics/countedStore.ts';
import { type CertificateFiles, readCertificate, renewOnSignal } from './certificates.ts';

/** What a server is told. */
interface ServerSettings {
  readonly host: string;
  readonly port: number;
  readonly docs: boolean;
  readonly certificates: CertificateFiles | undefined;
}

/** Serves the three functions on one port, until a signal stops the process. */
export async function serve(
  call: Surroundings & OpenInstance,
  { host, port, docs, certificates }: ServerSettings,
): Promise<void> {
  const { store, signal, stdout, stderr } = call;
  const config = loadConfig(call);
  requireMasterKey(call.location);
  // A database with another master key, or another format, fails now and not at the first request.
  await store.getMany([instanceKey], []);
  configureLog(config.logLevel, stderr);
  const certificate = certificates && (await readCertificate(certificates));
  await using resources = new AsyncDisposableStack();
  const metrics = await startMetrics(config);
  resources.defer(async () => void (await metrics?.server.close()));
  // Standard output is for the address.
  const audit = await openAudit(config, stderr);
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
    routes: docs ? [...routes, ...docsRoutes] : routes,
    ...(metrics && { observer: metrics.observer }),
  });
  const limits = { ...config.limits, trustedProxies: config.trustedProxies };
  const address = { host, port };
  const server = await listen({ ...address, setting: '--port' }, () =>
    serveApp({ app, ...address, drainMs: config.shutdownMs, limits, certificate }),
  );
  resources.defer(async () => void (await server.close()));
  if (certificates !== undefined) resources.use(renewOnSignal(certificates, server));
  stdout.write(`listening on ${server.url}\n`);
  if (metrics !== undefined) stdout.write(`metrics at ${metrics.server.url}/metrics\n`);
  await aborted(signal);
}

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

/** An address to listen on, and the setting that changes its port. */
interface Address {
  readonly host: string;
  readonly port: number;
  readonly setting: string;
}

/** The errors of an address that is not available, by the codes of the operating system. */
const errors: Readonly<Record<string, (address: Address) => Error>> = {
  EACCES: ({ port, setting }) => portForbidden(port, setting),
  EADDRINUSE: ({ port, setting }) => portInUse(port, setting),
  EADDRNOTAVAIL: ({ host }) => hostUnknown(host),
  ENOTFOUND: ({ host }) => hostUnknown(host),
};

/**
 * Starts a server.
 * @throws IdentityError that says which setting to change, when the address is not available
 */
export async function listen(address: Address, start: () => Promise<RunningServer>): Promise<RunningServer> {
  try {
    return await start();
  } catch (error) {
    throw errors[systemCode(error)]?.(address) ?? error;
  }
}
