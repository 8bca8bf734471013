import { holdOtherOwner } from '../../shared/accounts/memberships.ts';
import { DELETED, requireUser } from '../../shared/accounts/userAccounts.ts';
import { stateUnsuitable, userUnknown } from '../../shared/errors/commandErrors.ts';
import { parseObject } from '../../shared/json/jsonObject.ts';
import { serialise } from '../../shared/organisation/recordBody.ts';
import type { DocumentFields } from '../../shared/store/documentFields.ts';
import { userKey } from '../../shared/store/documentKeys.ts';
import type { Store, StoredDocument } from '../../shared/store/store.ts';

const lockChanges = {
  lock: { from: ['USER_STATE_ACTIVE', 'USER_STATE_INITIAL'], to: 'USER_STATE_LOCKED' },
  unlock: { from: ['USER_STATE_LOCKED'], to: 'USER_STATE_ACTIVE' },
} as const satisfies Readonly<Record<string, { readonly from: readonly string[]; readonly to: string }>>;

export type LockChange = keyof typeof lockChanges;

/**
 * Locks or unlocks a user (see zitadel 6.5). A locked user's tokens are suspended. The call is idempotent.
 * @param force true to lock the last IAM_OWNER too
 * @throws IdentityError NOT_FOUND for an unknown user; FAILED_PRECONDITION if the user's state does not permit the
 * change, or for the last IAM_OWNER without `force`
 */
export function changeLock(store: Store, userId: string, change: LockChange, now: Date, force: boolean): Promise<void> {
  const { from, to } = lockChanges[change];
  return store.transaction(async (transaction) => {
    const user = await requireUser(transaction, userId, ['state', 'body', 'sequence']);
    const { state = '', sequence = 0 } = user;
    if (state === DELETED) throw userUnknown({ userId });
    // Write the state even if the user already has it, because this write prevents a running import from replacing the
    // state.
    if (state !== to && !from.some((suitable) => suitable === state)) throw stateUnsuitable({ userId, state, change });
    if (change === 'lock' && !force) await holdOtherOwner(store, transaction, userId);
    const fields = { ...withState(user, to), sequence: sequence + 1, changedAt: now.toISOString() };
    transaction.write([{ type: 'update', key: userKey(userId), fields }]);
  });
}

function withState({ body }: StoredDocument, state: string): DocumentFields {
  return { ...serialise({ ...parseObject(body), state }), state };
}
