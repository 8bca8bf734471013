import { routes as exportRoutes } from '../../functions/export/app.ts';
import { routes as importRoutes } from '../../functions/import/app.ts';
import { routes as removeOtpEmailRoutes } from '../../functions/removeOtpEmail/app.ts';
import type { Route } from '../../shared/http/app.ts';
import { defaultLimits } from '../../shared/limits.ts';
import { createCloudStorage } from '../../shared/objectStorage/cloudStorage.ts';
import { openTestStore, sqlite } from '../support/stores/stores.ts';
import type { FunctionName } from './terraformFiles.ts';

/** The routes of each function, on an empty database that is closed when the test has finished. */
export async function functionRoutes(): Promise<Readonly<Record<FunctionName, readonly Route[]>>> {
  const limits = defaultLimits('cloud');
  const store = await openTestStore(sqlite);
  const ports = { limits, store, objectStorage: createCloudStorage(), now: () => new Date() };
  return {
    removeOtpEmail: removeOtpEmailRoutes(ports),
    export: exportRoutes(ports),
    import: importRoutes(ports),
  };
}
