import { registerFunction } from '../../shared/http/functionShell.ts';
import { createCloudStorage } from '../../shared/objectStorage/cloudStorage.ts';
import { requireMasterKey } from '../../shared/store/openStore.ts';
import { functionProgram } from '../program.ts';
import { routes } from './app.ts';

registerFunction('import', (config) => {
  requireMasterKey(config.storeLocation);
  return functionProgram(config, (ports) => routes({ ...config, ...ports, objectStorage: createCloudStorage() }));
});
