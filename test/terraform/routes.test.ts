import { describe, expect, it } from 'vitest';
import { functions } from '../../functions/endpoints.ts';
import { initialise } from '../../shared/accounts/initialise.ts';
import { deadlineExceeded } from '../../shared/errors/errors.ts';
import { codes } from '../../shared/errors/identityError.ts';
import { createApp, type Route } from '../../shared/http/app.ts';
import { healthEndpoints, healthRoutes } from '../../shared/http/health.ts';
import { defaultLimits } from '../../shared/limits.ts';
import { configureLog } from '../../shared/log.ts';
import { createCloudStorage } from '../../shared/objectStorage/cloudStorage.ts';
import { memoryTrail } from '../support/audit/memoryTrail.ts';
import { openTestStore, sqlite } from '../support/stores/stores.ts';
import { loadBalancerRoutes, readProbe, readTerraform } from './terraformFiles.ts';

/** Returns the routes of each function by its name, and their database. */
async function functionRoutes() {
  const store = await openTestStore(sqlite);
  const { audit } = memoryTrail();
  const ports = { limits: defaultLimits('cloud'), store, objectStorage: createCloudStorage(), audit };
  const routes = new Map<string, readonly Route[]>();
  for (const [name, { app }] of Object.entries(functions))
    routes.set(name, (await app()).routes({ ...ports, now: () => new Date() }));
  return { routes, store };
}

describe('the load balancer', () => {
  it("has the functions' routes, each leading to its function, and no others", async () => {
    const led = new Map<string, string>();
    // If several functions have a path, the first of them serves it. It also serves unmatched requests.
    for (const [name, routes] of (await functionRoutes()).routes) {
      for (const path of routes.map((route) => route.path.replace(/:\w+/g, '*')))
        if (!led.has(path)) led.set(path, name);
    }
    for (const { path } of healthEndpoints) led.set(path, 'removeOtpEmail');
    // Each function describes itself under this path; `removeOtpEmail` alone can describe the instance (HOSTING).
    led.set('/openapi.json', 'removeOtpEmail');
    expect(await loadBalancerRoutes()).toEqual(Array.from(led, ([path, name]) => ({ function: name, path })));
  });

  it("has route templates within Google's limits: whole segments, at most five open ones, 255 characters", async () => {
    for (const { path } of await loadBalancerRoutes()) {
      expect(path).toMatch(/^(\/(\*|[\w.-]+))+$/);
      expect(path.length).toBeLessThan(256);
      expect(path.split('*').length - 1).toBeLessThan(6);
    }
  });
});

it('the probe has a route, and the response that Terraform expects if the database is reachable', async () => {
  configureLog('silent');
  const { function: name, method, path, status, content } = await readProbe();
  expect(await loadBalancerRoutes()).toContainEqual({ function: name, path });
  const { routes, store } = await functionRoutes();
  await initialise(store, { name: 'probed' }, 60_000, new Date());
  const app = createApp({ routes: [...(routes.get(name) ?? []), ...healthRoutes(store)] });
  const response = await app.request(`http://probed${path}`, { method });
  expect(response.status).toBe(status);
  expect(await response.text()).toContain(content);
});

it('the alert on unfinished imports looks for their end in the audit trail, which no log level hides', async () => {
  const { audit, events } = memoryTrail();
  const call = audit.call('import', {});
  await call.begin({});
  await call.end(deadlineExceeded());
  const outcomes = Object.entries(codes).filter(([, { httpStatus }]) => httpStatus >= 499);
  const alert = await readTerraform('modules/monitoring/log_alerts.tf');
  expect(alert).toContain(`jsonPayload.event = \\"${events[1]?.event}\\"`);
  expect(alert).toContain(`[${outcomes.map(([name]) => `"${name}"`).join(', ')}]`);
  expect(alert).not.toContain('jsonPayload.status');
});
