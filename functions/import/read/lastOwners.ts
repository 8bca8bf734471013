import { readOwners } from '../../../shared/accounts/memberships.ts';
import { isBlocked } from '../../../shared/auth/authorise.ts';
import type { RecordPlan } from '../../../shared/organisation/recordPlan.ts';
import { userKey } from '../../../shared/store/documentKeys.ts';
import { documentPath, type StoredDocument, type Transaction } from '../../../shared/store/store.ts';
import type { ImportedStore } from '../context.ts';

/**
 * Finds the active owners of the instance whom the batch would suspend, if no other active owner would remain. An
 * import that a user calls cannot suspend this user, who remains active. An import by the command has no such user, so
 * it needs this check. If another owner remains, the commit fails if a call changes that owner first.
 */
export async function findLastOwners(
  store: ImportedStore,
  transaction: Transaction,
  plans: readonly RecordPlan[],
  documents: ReadonlyMap<string, StoredDocument>,
): Promise<ReadonlySet<string>> {
  const suspended = new Set(plans.filter((plan) => suspends(plan, documents)).map(({ key }) => documentPath(key)));
  if (suspended.size === 0) return suspended;
  const active = (await readOwners(store, transaction)).filter(({ isActive }) => isActive);
  const [lost = [], [remaining] = []] = [true, false].map((isLost) =>
    active.filter(({ userId }) => suspended.has(documentPath(userKey(userId))) === isLost),
  );
  if (remaining === undefined) return new Set(lost.map(({ userId }) => documentPath(userKey(userId))));
  if (lost.length > 0) transaction.hold(remaining.keys);
  return new Set();
}

function suspends({ record, key }: RecordPlan, documents: ReadonlyMap<string, StoredDocument>): boolean {
  const isUser = record.section.collection === 'users';
  return isUser && isBlocked(record.state?.value) && documents.has(documentPath(key));
}
