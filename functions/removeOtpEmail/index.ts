import { openAudit } from '../../shared/audit/openAudit.ts';
import { createApp, withOpenApi } from '../../shared/http/app.ts';
import { registerFunction } from '../../shared/http/functionShell.ts';
import { openStore } from '../../shared/store/openStore.ts';
import { routes } from './app.ts';

registerFunction('removeOtpEmail', async (config) => {
  const audit = await openAudit(config);
  const store = await openStore(config.storeLocation);
  const app = createApp({ ...config, routes: withOpenApi(routes({ store, audit, now: () => new Date() })) });
  return { app, close: () => audit.close() };
});
