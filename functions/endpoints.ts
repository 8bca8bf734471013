import type { Route } from '../shared/http/app.ts';
import { withOpenApi } from '../shared/http/docsPage.ts';
import { healthEndpoints, healthRoutes } from '../shared/http/health.ts';
import { stateLimits } from '../shared/limits.ts';
import type { Endpoint } from '../shared/openapi/endpoint.ts';
import type { Ports } from './ports.ts';

interface FunctionModules {
  readonly contract: () => Promise<{ readonly endpoints: readonly Endpoint[] }>;
  readonly app: () => Promise<{ routes(ports: Ports): readonly Route[] }>;
}

export const functions = {
  removeOtpEmail: {
    contract: () => import('./removeOtpEmail/contract.ts'),
    app: () => import('./removeOtpEmail/app.ts'),
  },
  export: { contract: () => import('./export/contract.ts'), app: () => import('./export/app.ts') },
  import: { contract: () => import('./import/contract.ts'), app: () => import('./import/app.ts') },
} satisfies Record<string, FunctionModules>;

/** Loads the endpoints of all functions without loading their applications. */
export async function allEndpoints(): Promise<readonly Endpoint[]> {
  const contracts = await Promise.all(Object.values(functions).map(({ contract }) => contract()));
  return [...contracts.flatMap(({ endpoints }) => endpoints), ...healthEndpoints];
}

/** Loads the routes of all functions and of their OpenAPI document, for a process that serves them on one port. */
export async function allRoutes(ports: Ports): Promise<readonly Route[]> {
  const apps = await Promise.all(Object.values(functions).map(({ app }) => app()));
  const routes = [...apps.flatMap((app) => app.routes(ports)), ...healthRoutes(ports.store)];
  return withOpenApi(routes, stateLimits(ports.limits, ports.transfers !== undefined));
}
