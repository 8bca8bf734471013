import { deleteWithClaims, type OnDeleting, readDependents } from '../../../shared/accounts/dependents.ts';
import { deleteStripped, stripUsers } from '../../../shared/accounts/userRemoval.ts';
import { parseObject, textAt } from '../../../shared/json/jsonObject.ts';
import { phases } from '../../../shared/organisation/sections/section.ts';
import { userKey } from '../../../shared/store/documentKeys.ts';
import { type DocumentKey, documentPath, type Store } from '../../../shared/store/store.ts';
import type { Beginning } from '../context.ts';
import type { ImportReport } from '../results/report.ts';
import type { DoomedRecord } from '../stages.ts';
import { findChanged } from '../stamp.ts';
import type { Deletions } from './deletions.ts';
import { changedErrors } from './obstacles.ts';

/** An import that deletes records. It must hold the instance's lock exclusively. */
export interface DeletingCall {
  readonly store: Pick<Store, 'snapshot' | 'transaction' | 'getMany'>;
  readonly deletions: Deletions;
  readonly beginning: Beginning;
  readonly signal: AbortSignal;
  /**
   * Receives an error if the import keeps a record because a call without the instance's lock has changed the record.
   * After an error, the import deletes no further records.
   */
  readonly report: ImportReport;
  readonly onDeleting: OnDeleting;
}

/**
 * Prepares the deletion of stored records whose names the file needs. The commit of a record of the file will delete
 * the stored record that has its name. Before the import writes the file's records, this function deletes the records
 * that require such a stored record. If it is a user, marks the user as deleted, but does not delete the user's
 * documents yet.
 */
export async function deleteEarly(call: DeletingCall): Promise<void> {
  const { store, deletions, report } = call;
  const users = await strip(call, deletions.freedUsers());
  for (const phase of phases.toReversed()) await deletePhase(call, deletions.ofPhase(phase, 'early'));
  if (report.hasErrors) await deleteStripped(store, users, call);
}

/**
 * Deletes the records that `deleteEarly` has not deleted. Begins with users and the records that refer to users.
 * Deletes the other records in reverse order of the phases.
 */
export async function deleteLate(call: DeletingCall): Promise<void> {
  const { store, deletions } = call;
  const users = await strip(call, deletions.users());
  await deleteStripped(store, users, call);
  for (const userId of users.keys()) deletions.markDone(documentPath(userKey(userId)));
  for (const phase of phases.toReversed()) await deletePhase(call, deletions.ofPhase(phase, 'late'));
}

/**
 * Marks users as deleted, and deletes the records that refer to these users. Keeps a user who was changed after the
 * import began, or to whom a new record of another call refers.
 * @returns the ids of the marked users, with the ids of their organisations
 */
async function strip(
  { store, deletions, beginning: { position }, signal, report, onDeleting }: DeletingCall,
  batches: Iterable<readonly DoomedRecord[]>,
): Promise<ReadonlyMap<string, string>> {
  const users = new Map<string, string>();
  for (const batch of batches) for (const [userId, orgId] of await readUsers(store, batch)) users.set(userId, orgId);
  if (users.size === 0) return users;
  const stripped = await stripUsers(store, users, {
    signal,
    onDeleting,
    keeping: {
      findChanged: (transaction, documents) => findChanged(transaction, documents, position),
      keepsUser: ({ key }) => !deletions.covers(documentPath(key)),
    },
    onFound: deletions.markFound,
  });
  const kept = [...users.keys()].filter((userId) => !stripped.has(userId)).map(userKey);
  for (const key of kept) deletions.keep(documentPath(key));
  for (const error of await changedErrors(store, kept)) report.addError(error);
  return stripped;
}

async function readUsers(
  store: DeletingCall['store'],
  batch: readonly DoomedRecord[],
): Promise<ReadonlyMap<string, string>> {
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

/** Deletes records in batches. Stops at the first batch with a record that another call has changed. */
async function deletePhase(call: DeletingCall, batches: Iterable<readonly DoomedRecord[]>): Promise<void> {
  const { store, deletions, signal, report } = call;
  for (const batch of batches) {
    if (report.hasErrors) return;
    signal.throwIfAborted();
    const keys = batch.map(({ key }) => key);
    const changed = await deleteUnchanged(call, keys);
    for (const key of changed) deletions.keep(documentPath(key));
    if (changed.length === 0) for (const key of keys) deletions.markDone(documentPath(key));
    for (const error of await changedErrors(store, changed)) report.addError(error);
  }
}

/** Deletes the records, unless another call has changed any of them. Returns the keys of the changed records. */
function deleteUnchanged(
  { store, beginning: { position }, onDeleting }: DeletingCall,
  keys: readonly DocumentKey[],
): Promise<readonly DocumentKey[]> {
  return store.transaction(async (transaction) => {
    const dependents = await readDependents(transaction, keys);
    const byPath = new Map(dependents.map(({ key, stored }) => [documentPath(key), stored]));
    const changed = findChanged(transaction, byPath, position);
    if (changed.size === 0) {
      await onDeleting(transaction, dependents);
      await deleteWithClaims(transaction, dependents);
    }
    return keys.filter((key) => changed.has(documentPath(key)));
  });
}
