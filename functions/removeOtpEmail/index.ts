import { createApp, withOpenApi } from '../../shared/http/app.ts';
import { registerFunction } from '../../shared/http/functionShell.ts';
import { openStore } from '../../shared/store/openStore.ts';
import { routes } from './app.ts';

registerFunction('removeOtpEmail', async (config) => {
  const store = await openStore(config.storeLocation);
  return createApp({ ...config, routes: withOpenApi(routes({ store, now: () => new Date() })) });
});
