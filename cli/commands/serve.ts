import { allRoutes } from '../../functions/endpoints.ts';
import { createApp } from '../../shared/http/app.ts';
import { docsRoutes } from '../../shared/http/docs.ts';
import { serve as serveApp } from '../../shared/http/serve.ts';
import { configureLog } from '../../shared/log.ts';
import { createCloudStorage } from '../../shared/objectStorage/cloudStorage.ts';
import { loadConfig, type Run, UsageError } from '../command.ts';

/** Runs `identity serve`: the three functions on one port, until a signal stops the process. */
export const serve: Run = async (invocation) => {
  const { store, options, flags, signal } = invocation;
  const config = loadConfig(invocation);
  configureLog(config.logLevel, process.stderr);
  const routes = await allRoutes({
    ...config,
    store,
    objectStorage: createCloudStorage(),
    now: () => new Date(),
  });
  const app = createApp({ ...config, routes: flags.has('docs') ? [...routes, ...docsRoutes] : routes });
  const server = await serveApp({
    app,
    host: options.host ?? '127.0.0.1',
    port: parsePort(options.port ?? '8080'),
    drainMs: config.shutdownMs,
    limits: config.limits,
  });
  process.stdout.write(`listening on ${server.url}\n`);
  await aborted(signal);
  await server.close();
  return undefined;
};

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
