import { openAudit } from '../shared/audit/openAudit.ts';
import type { Config } from '../shared/config.ts';
import { createApp, type Route } from '../shared/http/app.ts';
import { withOpenApi } from '../shared/http/docsPage.ts';
import type { FunctionProgram } from '../shared/http/functionShell.ts';
import { healthRoutes } from '../shared/http/health.ts';
import { stateLimits } from '../shared/limits.ts';
import { openStore } from '../shared/store/openStore.ts';
import { isAttended } from '../shared/turns.ts';
import type { Ports } from './ports.ts';

/**
 * Creates the server application of one function: the function's routes, the routes for probes, and the OpenAPI
 * document.
 * @param loadEndpoints loads the endpoints of all functions that share a base URL, for the OpenAPI document. If absent,
 * the document describes only `routes`
 */
export async function functionProgram(
  config: Config,
  routes: (ports: Pick<Ports, 'store' | 'audit' | 'now'>) => readonly Route[],
  loadEndpoints?: Parameters<typeof withOpenApi>[2],
): Promise<FunctionProgram> {
  const store = await openStore(config.storeLocation, { isAttended });
  const audit = openAudit(store, config);
  const allRoutes = [...routes({ store, audit, now: () => new Date() }), ...healthRoutes(store)];
  const app = createApp({
    ...config,
    routes: withOpenApi(allRoutes, stateLimits(config.limits, config.transferBucket !== undefined), loadEndpoints),
  });
  return { app, close: () => audit.close() };
}
