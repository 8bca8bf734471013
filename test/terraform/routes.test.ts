import { access, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { allRoutes } from '../../functions/endpoints.ts';
import { initialise } from '../../shared/accounts/initialise.ts';
import { deadlineExceeded } from '../../shared/errors/errors.ts';
import { codes } from '../../shared/errors/identityError.ts';
import { createApp } from '../../shared/http/app.ts';
import { healthEndpoints, healthRoutes } from '../../shared/http/health.ts';
import { defaultLimits } from '../../shared/limits.ts';
import { configureLog } from '../../shared/log.ts';
import { createCloudStorage } from '../../shared/objectStorage/cloudStorage.ts';
import { root } from '../../tools/program.ts';
import { memoryTrail } from '../support/audit/memoryTrail.ts';
import { openTestStore, sqlite } from '../support/stores/stores.ts';
import { functionRoutes } from './functionRoutes.ts';
import { loadBalancerRoutes, readProbe, readTerraform } from './terraformFiles.ts';

/** A path as the load balancer writes it: its templates have `*` where a route has a parameter. */
const template = (path: string) => path.replace(/:\w+/g, '*');

/** Each function describes itself under the same path; `removeOtpEmail` alone can describe the instance (HOSTING). */
const description = { function: 'removeOtpEmail', path: '/openapi.json' };

describe('the load balancer', () => {
  it("has the functions' routes, each leading to its function, and no others", async () => {
    const led = new Map<string, string>();
    // A path that several functions have is answered by the first of them, which also answers what no route leads to.
    for (const [name, routes] of Object.entries(await functionRoutes())) {
      for (const { path } of routes) if (!led.has(template(path))) led.set(template(path), name);
    }
    const inCode = [...led].map(([path, name]) => ({ function: name, path }));
    const probed = healthEndpoints.map(({ path }) => ({ function: 'removeOtpEmail', path }));
    expect(await loadBalancerRoutes()).toEqual([...inCode, ...probed, description]);
  });

  it('leaves out no route that the one-port server has', async () => {
    const store = await openTestStore(sqlite);
    const limits = defaultLimits('selfHosted');
    const { audit } = memoryTrail();
    const routes = await allRoutes({
      limits,
      store,
      objectStorage: createCloudStorage(),
      audit,
      now: () => new Date(),
    });
    const led = (await loadBalancerRoutes()).map(({ path }) => path);
    // The function that answers the probes also gets what no route leads to, such as a probe with a slash at its end.
    const withoutSlash = routes.filter(({ path }) => !path.endsWith('/'));
    expect(led).toEqual([...new Set(withoutSlash.map(({ path }) => template(path)))]);
  });

  it('leads to every function that can be deployed', async () => {
    const entries = await readdir(join(root, 'functions'), { withFileTypes: true });
    const functions = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
    for (const name of functions) await access(join(root, 'functions', name, 'index.ts'));
    expect(new Set((await loadBalancerRoutes()).map((route) => route.function))).toEqual(new Set(functions));
  });

  it("has route templates within Google's limits: whole segments, at most five open ones, 255 characters", async () => {
    for (const { path } of await loadBalancerRoutes()) {
      expect(path).toMatch(/^(\/(\*|[\w.-]+))+$/);
      expect(path.length).toBeLessThan(256);
      expect(path.split('*').length - 1).toBeLessThan(6);
    }
  });
});

describe('the probe', () => {
  it('gets the response that Terraform expects, with a body that only this service writes, if the database is reachable', async () => {
    configureLog('silent');
    const { function: name, method, path, status, content } = await readProbe();
    const store = await openTestStore(sqlite);
    await initialise(store, { name: 'probed' }, 60_000, new Date());
    const app = createApp({ routes: [...(await functionRoutes())[name], ...healthRoutes(store)] });
    const response = await app.request(`http://probed${path}`, { method });
    expect({ path, status: response.status }).toEqual({ path, status });
    expect(await response.text()).toContain(content);
  });

  it('uses a route that leads to its function', async () => {
    const probe = await readProbe();
    expect(await loadBalancerRoutes()).toContainEqual({ function: probe.function, path: probe.path });
  });
});

describe('the alert on unfinished imports', () => {
  it('looks for their end in the audit trail, which no log level hides', async () => {
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
});
