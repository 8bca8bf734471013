// A trial of an import in an instance without records.

import { instanceKey, newInstanceBody } from '../shared/store/instance.ts';
import { documentPath, type Reader, type Store } from '../shared/store/store.ts';
import type { ImportSettings } from './import/context.ts';
import { importOrganisations } from './import/operation.ts';

/** The lowest cost of bcrypt, because no hash is kept. */
const BCRYPT_COST = 4;

/** The organisations of the trial, and the instance's default for login names. */
interface TrialSettings extends Pick<ImportSettings, 'orgIds' | 'excludedOrgIds' | 'onInspected'> {
  readonly loginNamesByDomain: boolean;
}

/**
 * Tries the import of a file into an empty instance. Memory does not grow with the file.
 * @throws IdentityError for an invalid file; the signal's reason
 */
export function importIntoEmpty(
  source: Parameters<typeof importOrganisations>[1],
  { loginNamesByDomain, ...settings }: TrialSettings,
  signal: AbortSignal,
): ReturnType<typeof importOrganisations> {
  const trial = { ...settings, dryRun: true, withKeys: true, ids: false, bcryptCost: BCRYPT_COST };
  return importOrganisations(emptyStore(loginNamesByDomain), source, trial, new Date().toISOString(), signal);
}

/** Returns the store of an instance without records. */
function emptyStore(loginNamesByDomain: boolean): Store {
  const body = newInstanceBody({ name: 'empty', loginNamesByDomain });
  const isInstance = (path: string) => path === documentPath(instanceKey);
  const getMany: Reader['getMany'] = async (keys) =>
    keys.map((key) => (isInstance(documentPath(key)) ? { id: key.id, body } : undefined));
  const refuse = async () => {
    throw new Error('a trial writes nothing');
  };
  return {
    getMany,
    snapshot: async () => ({
      getMany,
      readTime: new Date(),
      async *scan() {},
      [Symbol.asyncDispose]: async () => {},
    }),
    commit: refuse,
    transaction: refuse,
    lock: { take: refuse, position: async () => '' },
    close: async () => {},
  };
}
