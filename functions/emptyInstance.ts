import { createStore } from '../shared/store/createStore.ts';
import type { Database, Moment } from '../shared/store/database.ts';
import { instanceKey, newInstanceBody } from '../shared/store/instance.ts';
import { trialAdvice } from '../shared/store/overlay.ts';
import { embeddedGuard } from '../shared/store/secrets/keyRecord.ts';
import { emptyKeyring } from '../shared/store/secrets/keyring.ts';
import { type DocumentKey, documentPath } from '../shared/store/store.ts';
import type { ImportSettings } from './import/context.ts';
import { importOrganisations } from './import/operation.ts';

/** The lowest cost of bcrypt, because the simulation discards the password hashes. */
const BCRYPT_COST = 4;

interface TrialSettings
  extends Pick<ImportSettings, 'orgIds' | 'excludedOrgIds' | 'onInspected'>,
    Required<Pick<ImportSettings, 'inspection'>> {
  readonly loginNamesByDomain: boolean;
}

/**
 * Simulates the import of a valid file into an empty instance. The used memory does not grow with the size of the file.
 * @throws the signal's reason after an abort
 */
export function importIntoEmpty(
  source: Parameters<typeof importOrganisations>[1],
  { loginNamesByDomain, ...settings }: TrialSettings,
  signal: AbortSignal,
): ReturnType<typeof importOrganisations> {
  const trial = { ...settings, dryRun: true, withKeys: true, ids: false, bcryptCost: BCRYPT_COST };
  const store = createStore(emptyDatabase(loginNamesByDomain), embeddedGuard(emptyKeyring()));
  return importOrganisations(store, source, trial, new Date().toISOString(), signal);
}

function emptyDatabase(loginNamesByDomain: boolean): Database<Moment> {
  const body = newInstanceBody({ name: 'empty', loginNamesByDomain });
  const isInstance = (key: DocumentKey) => documentPath(key) === documentPath(instanceKey);
  const refuse = async () => {
    throw new Error('a dry run writes nothing');
  };
  return {
    read: async (keys) => ({
      documents: keys.map((key) => (isInstance(key) ? { id: key.id, body } : undefined)),
      versions: keys.map(() => undefined),
    }),
    async *scan() {},
    commit: (writes) => (writes.length === 0 ? Promise.resolve() : refuse()),
    moment: async () => ({ readTime: new Date(), [Symbol.asyncDispose]: async () => {} }),
    advice: trialAdvice,
    close: async () => {},
    trail: undefined,
    lock: { take: refuse, position: async () => '' },
  };
}
