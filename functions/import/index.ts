import { createCloudStorage } from '../../shared/bucket/cloudStorage.ts';
import { createApp } from '../../shared/http/createApp.ts';
import { registerFunction } from '../../shared/http/functionShell.ts';
import { withOpenApi } from '../../shared/openapi/withOpenApi.ts';
import { openStore } from '../../shared/store/openStore.ts';
import { importRoutes } from './app.ts';

registerFunction('import', async (config) => {
  const store = await openStore(config.storeLocation);
  return createApp({
    ...config,
    routes: withOpenApi(importRoutes({ ...config, store, bucket: createCloudStorage(), now: () => new Date() })),
  });
});
