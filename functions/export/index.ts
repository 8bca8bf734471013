import { registerFunction } from '../../shared/http/functionShell.ts';
import { openObjectStorage } from '../../shared/objectStorage/openObjectStorage.ts';
import { openTransfers } from '../../shared/objectStorage/openTransfers.ts';
import { requireMasterKey } from '../../shared/store/openStore.ts';
import { functionProgram } from '../functionProgram.ts';
import { routes } from './app.ts';

registerFunction('export', (config) => {
  requireMasterKey(config.storeLocation);
  const objectStorage = openObjectStorage();
  const transfers = openTransfers(config.transferBucket);
  return functionProgram(config, (ports) => routes({ ...config, ...ports, objectStorage, transfers }));
});
