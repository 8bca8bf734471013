import { createApp } from '../../shared/http/app.ts';
import { registerFunction } from '../../shared/http/functionShell.ts';
import { withOpenApi } from '../../shared/http/route.ts';
import { createCloudStorage } from '../../shared/objectStorage/cloudStorage.ts';
import { allEndpoints } from '../../shared/openapi/endpoints/all.ts';
import { openStore } from '../../shared/store/openStore.ts';
import { exportRoutes } from './app.ts';

registerFunction('export', async (config) => {
  const store = await openStore(config.storeLocation);
  const routes = exportRoutes({ ...config, store, bucket: createCloudStorage(), now: () => new Date() });
  return createApp({ ...config, routes: withOpenApi(routes, config.describesInstance ? allEndpoints : routes) });
});
