import { tmpdir } from 'node:os';
import type { StoreLocation } from '../../shared/store/openStore.ts';
import type { Call } from '../command.ts';
import { loadConfig } from '../configuration.ts';
import { type Check, check, failed, ok, warning } from './check.ts';
import { checkDatabase, findSpace } from './databaseChecks.ts';

/** Checks what the environment configures, and its database. */
export async function checkConfiguration(call: Call): Promise<Check[]> {
  const { environment } = call;
  const { DATA_DIR, FIRESTORE_PROJECT, GOOGLE_CLOUD_PROJECT } = environment;
  const hasDatabase = [DATA_DIR, FIRESTORE_PROJECT, GOOGLE_CLOUD_PROJECT].some((value) => (value ?? '') !== '');
  let location: StoreLocation | undefined;
  const configuration = await check('configuration', () => {
    // The other variables can be checked nevertheless.
    const config = loadConfig(hasDatabase ? call : { ...call, environment: { ...environment, DATA_DIR: '.' } });
    if (hasDatabase) location = config.storeLocation;
    return ok('the environment variables are valid');
  });
  return [
    configuration,
    await check('temporary files', () => findSpace(tmpdir())),
    ...(location === undefined ? [await check('database', () => withoutDatabase(configuration))] : []),
    ...(location === undefined ? [] : await checkDatabase(location)),
  ];
}

function withoutDatabase({ status }: Check) {
  if (status === 'failed') return failed('not checked: correct the configuration first');
  return warning('not checked: set DATA_DIR or FIRESTORE_PROJECT, or name a place, such as identity doctor sqlite:DIR');
}
