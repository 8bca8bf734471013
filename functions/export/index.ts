import { openAudit } from '../../shared/audit/openAudit.ts';
import { createApp } from '../../shared/http/app.ts';
import { withOpenApi } from '../../shared/http/docs.ts';
import { registerFunction } from '../../shared/http/functionShell.ts';
import { healthRoutes } from '../../shared/http/health.ts';
import { createCloudStorage } from '../../shared/objectStorage/cloudStorage.ts';
import { openStore, requireMasterKey } from '../../shared/store/openStore.ts';
import { routes } from './app.ts';

registerFunction('export', async (config) => {
  requireMasterKey(config.storeLocation);
  const audit = await openAudit(config);
  const store = await openStore(config.storeLocation);
  const exportRoutes = routes({
    ...config,
    store,
    audit,
    objectStorage: createCloudStorage(),
    now: () => new Date(),
  });
  const app = createApp({ ...config, routes: withOpenApi([...exportRoutes, ...healthRoutes(store)]) });
  return { app, close: () => audit.close() };
});
