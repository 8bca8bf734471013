import { createApp, withOpenApi } from '../../shared/http/app.ts';
import { registerFunction } from '../../shared/http/functionShell.ts';
import { createCloudStorage } from '../../shared/objectStorage/cloudStorage.ts';
import { openStore, requireMasterKey } from '../../shared/store/openStore.ts';
import { allEndpoints } from '../endpoints.ts';
import { routes } from './app.ts';

registerFunction('export', async (config) => {
  requireMasterKey(config.storeLocation);
  const store = await openStore(config.storeLocation);
  const functionRoutes = routes({ ...config, store, objectStorage: createCloudStorage(), now: () => new Date() });
  return createApp({
    ...config,
    routes: config.describesInstance ? withOpenApi(functionRoutes, allEndpoints) : withOpenApi(functionRoutes),
  });
});
