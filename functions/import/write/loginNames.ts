import { instanceScopeWrite, readScopes } from '../../../shared/organisation/loginNameScope.ts';
import { WriteConflictError } from '../../../shared/store/store.ts';
import { yieldToEventLoop } from '../../../shared/turns.ts';
import type { OrganisationHeader } from '../inspect/organisationDraft.ts';
import type { BatchContext } from './batchContext.ts';
import { GuardedStore, ReferenceChangedError } from './guardedStore.ts';

const BATCH = 250;

type Guarding = Pick<BatchContext, 'store' | 'watch'>;

/** An organisation whose users may be written. */
interface LoginNameTarget {
  readonly header: Pick<OrganisationHeader, 'orgId' | 'hasLoginNames'>;
  loginNamesByDomain: boolean;
}

/**
 * Settles the scope of the login names that an import is about to claim: after the domain policies are written, and
 * before the users. From then on no import can change the scope.
 * @throws the signal's reason
 */
export async function settleLoginNames(
  context: Guarding,
  targets: Iterable<LoginNameTarget>,
  signal: AbortSignal,
): Promise<void> {
  const open = [...new Set(targets)].filter(({ header }) => header.hasLoginNames);
  for (let start = 0; start < open.length; start += BATCH) {
    const batch = open.slice(start, start + BATCH);
    const scopes = await settleScopes(
      context,
      batch.map(({ header }) => header.orgId),
    );
    for (const [index, target] of batch.entries()) target.loginNamesByDomain = scopes[index] === 'organisation';
    await yieldToEventLoop();
    signal.throwIfAborted();
  }
}

/** Settles the scopes that are open on the instance's, and returns all of them. */
async function settleScopes(context: Guarding, orgIds: readonly string[]) {
  for (;;) {
    const store = new GuardedStore(context);
    const scopes = await readScopes(store, orgIds);
    const open = orgIds.filter((_orgId, index) => scopes[index] === undefined);
    if (open.length === 0) return scopes;
    try {
      await store.commit(open.map(instanceScopeWrite));
    } catch (error) {
      // Another import has settled one of them meanwhile, or an organisation was removed: read again.
      if (!(error instanceof WriteConflictError || error instanceof ReferenceChangedError)) throw error;
    }
  }
}
