// The deletion of the records that a file lacks.

import { deleteFound, readDependents, type Stored } from '../../../shared/accounts/dependents.ts';
import { deleteStripped, stripUsers } from '../../../shared/accounts/userRemoval.ts';
import { parseObject, textAt } from '../../../shared/json/jsonObject.ts';
import { phases } from '../../../shared/organisation/section.ts';
import { documentPath, type Store } from '../../../shared/store/store.ts';
import type { Deletions, DoomedRecord } from './deletions.ts';

/** The database of an import that holds its lock alone. */
export type DeletingStore = Pick<Store, 'snapshot' | 'transaction' | 'getMany'>;

/**
 * Deletes what requires the records whose names the file's records take, so that these can go with the commits that take the
 * names. The freed users themselves are marked as deleted.
 */
export async function deleteEarly(store: DeletingStore, deletions: Deletions, signal: AbortSignal): Promise<void> {
  const onFound = markFound(deletions);
  for (const batch of deletions.freedUsers())
    await stripUsers(store, await readUsers(store, batch), { signal, onFound });
  for (const phase of phases.toReversed())
    await deleteFound(store, found(store, deletions.ofPhase(phase, 'early'), onFound), { signal });
}

/** Deletes all other records, in the reverse order of the phases. */
export async function deleteLate(store: DeletingStore, deletions: Deletions, signal: AbortSignal): Promise<void> {
  const onFound = markFound(deletions);
  for (const phase of phases.toReversed()) {
    await deleteFound(store, found(store, deletions.ofPhase(phase, 'late'), onFound), { signal });
    if (phase !== USER_PHASE) continue;
    const users = new Map<string, string>();
    for (const batch of deletions.users())
      for (const [userId, orgId] of await readUsers(store, batch)) users.set(userId, orgId);
    if (users.size === 0) continue;
    await stripUsers(store, users, { signal, onFound });
    await deleteStripped(store, users, signal);
    for (const batch of deletions.users()) for (const { key } of batch) deletions.markDone(documentPath(key));
  }
}

const USER_PHASE = 2;

/** Reads the ids of users that exist, with their organisations. */
async function readUsers(store: DeletingStore, batch: readonly DoomedRecord[]): Promise<Map<string, string>> {
  const stored = await store.getMany(
    batch.map(({ key }) => key),
    ['body'],
  );
  const users = batch.flatMap(({ orgId }, index) => {
    const user = stored[index];
    return user === undefined ? [] : [[textAt(parseObject(user.body), 'userId', ''), orgId] as const];
  });
  return new Map(users);
}

/** Reads the records that still exist. */
async function* found(
  store: DeletingStore,
  batches: Iterable<readonly DoomedRecord[]>,
  onFound: (stored: readonly Stored[]) => void,
): AsyncGenerator<readonly Stored[]> {
  for (const batch of batches) {
    const stored = await readDependents(
      store,
      batch.map(({ key }) => key),
    );
    yield stored;
    onFound(stored);
  }
}

function markFound(deletions: Deletions): (stored: readonly Stored[]) => void {
  return (stored) => {
    for (const { key } of stored) deletions.markDone(documentPath(key));
  };
}
