// Deletion of users with everything that refers to them.

import { userKey } from '../auth/authorise.ts';
import { parseObject, textAt } from '../json/jsonObject.ts';
import { deletionPartition, deletionPartitions, isInDeletion } from '../organisation/sections/users.ts';
import type { Store, Transaction } from '../store/store.ts';
import {
  type DeletedUsers,
  type DeletionOptions,
  deleteFound,
  deleteWithClaims,
  findReferring,
  readDependents,
  type Stored,
} from './dependents.ts';
import { requireOtherOwner } from './memberships.ts';

/** The database of a deletion, whose lock the caller holds alone. */
type Database = Pick<Store, 'snapshot' | 'transaction'>;

const USERS_PER_COMMIT = 100;

/**
 * Marks users as deleted, and deletes everything in the instance that refers to them: tokens, memberships, grants, metadata,
 * links and keys. From the mark on, their tokens are invalid, no export contains them, and nothing new can refer to them:
 * writers that read a user before conflict with the mark, writers that read it later treat it as missing.
 * @param options.force whether to delete the last IAM_OWNER, too
 * @param options.check runs in the transaction that marks users, before the mark
 * @param options.onFound called with the records that refer to the users, before each is deleted
 * @throws IdentityError FAILED_PRECONDITION for the last IAM_OWNER; the signal's reason
 */
export async function stripUsers(
  store: Database,
  users: DeletedUsers,
  { force = false, check, onFound, ...options }: StripOptions = {},
): Promise<void> {
  const userIds = [...users.keys()];
  for (let start = 0; start < userIds.length; start += USERS_PER_COMMIT)
    await markUsers(store, userIds.slice(start, start + USERS_PER_COMMIT), { force, check });
  await deleteFound(store, observed(findReferring(store, users), onFound), options);
}

interface StripOptions extends DeletionOptions {
  readonly force?: boolean;
  readonly check?: ((transaction: Transaction) => Promise<void>) | undefined;
  readonly onFound?: (found: readonly Stored[]) => void;
}

function markUsers(store: Database, userIds: readonly string[], { force, check }: StripOptions): Promise<void> {
  return store.transaction(async (transaction) => {
    const keys = userIds.map(userKey);
    const found = await transaction.getMany(keys, ['orgId', 'partition']);
    const marked = keys.flatMap((key, index) => {
      const stored = found[index];
      return stored === undefined || isInDeletion(stored) ? [] : [{ key, stored, userId: userIds[index] ?? '' }];
    });
    await check?.(transaction);
    const lost = new Set(marked.map(({ userId }) => userId));
    if (force !== true) transaction.hold(await requireOtherOwner(store, transaction, ({ userId }) => lost.has(userId)));
    for (const { key, stored } of marked) {
      // Without its digest the user equals no imported record, so that no import reports it as unchanged.
      const fields = { state: 'USER_STATE_DELETED', partition: deletionPartition(stored.orgId ?? ''), digest: null };
      transaction.write([{ type: 'update', key, fields }]);
    }
  });
}

/** Deletes users to which nothing refers any more: the last step of a deletion. */
export async function deleteStripped(store: Database, users: DeletedUsers, signal?: AbortSignal): Promise<void> {
  const userIds = [...users.keys()];
  for (let start = 0; start < userIds.length; start += USERS_PER_COMMIT) {
    signal?.throwIfAborted();
    const keys = userIds.slice(start, start + USERS_PER_COMMIT).map(userKey);
    await store.transaction(async (transaction) =>
      deleteWithClaims(transaction, await readDependents(transaction, keys)),
    );
  }
}

/** Continues the deletions of users of some organisations that were interrupted. */
export async function finishDeletions(
  store: Database,
  orgIds: ReadonlySet<string>,
  signal: AbortSignal,
): Promise<void> {
  const users = new Map<string, string>();
  {
    await using snapshot = await store.snapshot();
    const range = { collection: 'users', partitions: deletionPartitions, fields: ['orgId', 'body'] } as const;
    for await (const documents of snapshot.scan(range))
      for (const { orgId = '', body } of documents)
        if (orgIds.has(orgId)) users.set(textAt(parseObject(body), 'userId', ''), orgId);
  }
  if (users.size === 0) return;
  await deleteFound(store, findReferring(store, users), { signal });
  await deleteStripped(store, users, signal);
}

/** Passes documents on, and tells about them. */
async function* observed(
  found: AsyncIterable<readonly Stored[]>,
  onFound: StripOptions['onFound'],
): AsyncGenerator<readonly Stored[]> {
  for await (const documents of found) {
    onFound?.(documents);
    yield documents;
  }
}
