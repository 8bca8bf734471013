import { openAudit } from '../../shared/audit/openAudit.ts';
import { createApp } from '../../shared/http/app.ts';
import { withOpenApi } from '../../shared/http/docs.ts';
import { registerFunction } from '../../shared/http/functionShell.ts';
import { healthRoutes } from '../../shared/http/health.ts';
import { openStore } from '../../shared/store/openStore.ts';
import { allEndpoints } from '../endpoints.ts';
import { routes } from './app.ts';

registerFunction('removeOtpEmail', async (config) => {
  const audit = await openAudit(config);
  const store = await openStore(config.storeLocation);
  const functionRoutes = [...routes({ store, audit, now: () => new Date() }), ...healthRoutes(store)];
  const app = createApp({
    ...config,
    routes: config.describesInstance ? withOpenApi(functionRoutes, allEndpoints) : withOpenApi(functionRoutes),
  });
  return { app, close: () => audit.close() };
});
