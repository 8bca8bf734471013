import { parseObject, textAt } from '../json/jsonObject.ts';
import { storedFields, toRecord } from '../organisation/record.ts';
import { deletionPartition, deletionPartitions, isInDeletion, userSection } from '../organisation/sections/users.ts';
import type { FieldName } from '../store/documentFields.ts';
import { userKey } from '../store/documentKeys.ts';
import { callVersion, changeDate, withCallVersion } from '../store/lastChange.ts';
import {
  type DocumentChanges,
  documentPath,
  type Reader,
  type Store,
  type StoredDocument,
  type Transaction,
} from '../store/store.ts';
import {
  type DeletedUsers,
  type DeletionOptions,
  deleteFound,
  deleteWithClaims,
  findReferring,
  forgetImports,
  type OnDeleting,
  readDependents,
  refersTo,
  type Stored,
} from './dependents.ts';
import { requireOtherOwner } from './memberships.ts';
import { forgetLastImport, requireUser } from './userAccounts.ts';

/** The database in which users are deleted. The caller must hold the instance's lock exclusively during a deletion. */
type Database = Pick<Store, 'snapshot' | 'transaction'>;

const USERS_PER_COMMIT = 100;

/**
 * Marks users as deleted, and deletes all documents that refer to them: tokens, memberships, grants, metadata, links
 * and keys. Once a user is marked as deleted, the user's tokens are invalid, exports omit the user, and no new record
 * can refer to the user. A transaction that reads the user before the mark is written conflicts with this write. A
 * transaction that reads the user later treats the user as missing.
 * @param options.force true to delete even the last IAM_OWNER
 * @param options.check runs in the transaction that marks the users, before it marks them
 * @param options.keeping selects changed users; the deletion keeps these users, and the documents that refer to them
 * @param options.onFound called with each batch of documents that refer to the users, before the batch is deleted
 * @returns the users who were not kept
 * @throws IdentityError FAILED_PRECONDITION if the last IAM_OWNER would be deleted; the signal's reason if the signal
 * aborts
 */
export async function stripUsers(
  store: Database,
  users: DeletedUsers,
  { force = false, check, keeping, onFound, ...options }: StripOptions = {},
): Promise<DeletedUsers> {
  const userIds = [...users.keys()];
  const marked = new Map<string, StoredDocument>();
  const kept = new Set<string>();
  for (let start = 0; start < userIds.length; start += USERS_PER_COMMIT) {
    const marking = await markUsers(store, userIds.slice(start, start + USERS_PER_COMMIT), { force, check, keeping });
    for (const [userId, stored] of marking.marked) marked.set(userId, stored);
    for (const userId of marking.changed) kept.add(userId);
  }
  const restored = keeping === undefined ? new Map() : await findKept(store, marked, keeping);
  await changeUsers(store, restored, ({ state = null, partition = null }) => ({ state, partition }));
  for (const userId of restored.keys()) kept.add(userId);
  const stripped = new Map([...users].filter(([userId]) => !kept.has(userId)));
  if (keeping !== undefined) {
    const decided = [...marked].filter(([userId]) => !restored.has(userId));
    await changeUsers(store, new Map(decided), () => DECIDED);
  }
  await deleteFound(store, observed(findReferring(store, stripped), onFound), options);
  return stripped;
}

/**
 * Selects users whom the deletion keeps. It keeps a user if a call that did not hold the instance's lock has changed
 * the user, or has created a record that refers to the user.
 */
interface Keeping {
  /**
   * Returns the paths of the documents of those users who have changed. The deletion calls this function in the
   * transaction that marks the other users as deleted.
   */
  readonly findChanged: (transaction: Transaction, users: ReadonlyMap<string, StoredDocument>) => ReadonlySet<string>;
  /**
   * Returns whether to keep a user to whom this document refers. The deletion calls this function after it has marked
   * the user as deleted, so no further document can refer to the user.
   */
  readonly keepsUser: (referring: Stored) => boolean;
}

interface StripOptions extends DeletionOptions {
  readonly force?: boolean;
  readonly keeping?: Keeping | undefined;
  readonly check?: ((transaction: Transaction) => Promise<void>) | undefined;
  readonly onFound?: (documents: readonly Stored[]) => void;
}

const markedFields: readonly FieldName[] = ['orgId', 'partition', 'state', 'changedAt'];

/**
 * The change that makes a deletion final. It removes the digest from the document of a user who is marked as deleted.
 * While the document has its digest, the user can still be restored.
 */
const DECIDED = { digest: null } as const satisfies DocumentChanges;

export interface UserDeletion extends Omit<DeletionOptions, 'onDeleting'> {
  readonly force?: boolean;
  /** Reads the user. It must also find a user whose deletion was interrupted earlier. */
  readonly readUser?: (reader: Reader, userId: string) => Promise<StoredDocument>;
}

/**
 * Deletes a user, and all documents that refer to the user: tokens, memberships, grants, metadata, links and keys. The
 * first step blocks the user, and the last step deletes the user's document. After an interruption, call this function
 * again to continue. The caller must hold the instance's lock exclusively.
 * @throws IdentityError NOT_FOUND if the user is unknown; FAILED_PRECONDITION if the user is the last IAM_OWNER
 */
export async function deleteUser(
  store: Store,
  userId: string,
  { readUser = requireAnyUser, ...options }: UserDeletion = {},
): Promise<void> {
  const { orgId = '' } = await readUser(store, userId);
  const users = new Map([[userId, orgId]]);
  const check = async (transaction: Transaction) => {
    await readUser(transaction, userId);
    await forgetLastImport(transaction, [orgId]);
  };
  await stripUsers(store, users, { ...options, check, onDeleting: forgetImports });
  await deleteStripped(store, users, options);
}

function requireAnyUser(reader: Reader, userId: string): Promise<StoredDocument> {
  return requireUser(reader, userId, ['orgId']);
}

interface Marking {
  /**
   * The users whom this call has marked as deleted. The keys are their ids, the values are their fields before the
   * mark.
   */
  readonly marked: ReadonlyMap<string, StoredDocument>;
  readonly changed: readonly string[];
}

function markUsers(
  store: Database,
  userIds: readonly string[],
  { force, check, keeping }: StripOptions,
): Promise<Marking> {
  return store.transaction(async (transaction) => {
    const keys = userIds.map(userKey);
    const storedUsers = await transaction.getMany(keys, markedFields);
    const present = userIds.flatMap((userId, index) => {
      const stored = storedUsers[index];
      return stored === undefined || isInDeletion(stored) ? [] : [[userId, stored] as const];
    });
    await check?.(transaction);
    const byPath = new Map(present.map(([userId, stored]) => [documentPath(userKey(userId)), stored]));
    const paths = keeping?.findChanged(transaction, byPath) ?? new Set();
    const isChanged = (userId: string) => paths.has(documentPath(userKey(userId)));
    const marked = new Map(present.filter(([userId]) => !isChanged(userId)));
    if (force !== true)
      transaction.hold(await requireOtherOwner(store, transaction, ({ userId }) => marked.has(userId)));
    const versions = transaction.changedAfter('');
    for (const [userId, stored] of marked) {
      const key = userKey(userId);
      // Keep the version of the last change that a call made to the user. Otherwise, a restored user would seem to have
      // been changed since.
      const version = callVersion(stored, versions.get(documentPath(key)));
      const undecided = { changedAt: withCallVersion(changeDate(stored), version) };
      const end = keeping === undefined ? DECIDED : undecided;
      const fields = { state: 'USER_STATE_DELETED', partition: deletionPartition(stored.orgId ?? ''), ...end };
      transaction.write([{ type: 'update', key, fields }]);
    }
    return { marked, changed: userIds.filter(isChanged) };
  });
}

async function findKept(
  store: Database,
  marked: ReadonlyMap<string, StoredDocument>,
  { keepsUser }: Keeping,
): Promise<ReadonlyMap<string, StoredDocument>> {
  const users = new Map(Array.from(marked, ([userId, { orgId = '' }]) => [userId, orgId]));
  const kept = new Map<string, StoredDocument>();
  if (users.size === 0) return kept;
  for await (const documents of findReferring(store, users))
    for (const referring of documents.filter(keepsUser))
      for (const [userId, stored] of marked) if (refersTo(referring, new Set([userId]))) kept.set(userId, stored);
  return kept;
}

async function changeUsers<Value>(
  store: Database,
  users: ReadonlyMap<string, Value>,
  change: (value: Value) => DocumentChanges,
): Promise<void> {
  const entries = [...users];
  for (let start = 0; start < entries.length; start += USERS_PER_COMMIT)
    await store.transaction(async (transaction) => {
      for (const [userId, value] of entries.slice(start, start + USERS_PER_COMMIT))
        transaction.write([{ type: 'update', key: userKey(userId), fields: change(value) }]);
    });
}

/**
 * Restores users of these organisations if they are marked as deleted, and their deletion was interrupted before it
 * became final.
 */
export async function restoreUndecided(store: Database, orgIds: ReadonlySet<string>): Promise<void> {
  const undecided = new Map<string, StoredDocument>();
  for await (const user of readMarked(store, orgIds, ['orgId', 'body', 'digest']))
    if (user.digest !== undefined) undecided.set(textAt(parseObject(user.body), 'userId', ''), user);
  await changeUsers(store, undecided, ({ body, orgId = '' }) => {
    const json = parseObject(body);
    const { partition = null, state = null } = storedFields(toRecord(userSection(json), json, orgId));
    return { partition, state };
  });
}

async function* readMarked(
  store: Database,
  orgIds: ReadonlySet<string>,
  fields: readonly FieldName[],
): AsyncGenerator<StoredDocument> {
  await using snapshot = await store.snapshot();
  const range = { collection: 'users', partitions: deletionPartitions, fields } as const;
  for await (const documents of snapshot.scan(range))
    for (const stored of documents) if (orgIds.has(stored.orgId ?? '')) yield stored;
}

/** Deletes users' documents. No other document may still refer to these users. This is the last step of a deletion. */
export async function deleteStripped(
  store: Database,
  users: DeletedUsers,
  { signal, onDeleting }: Pick<DeletionOptions, 'signal' | 'onDeleting'> = {},
): Promise<void> {
  const userIds = [...users.keys()];
  for (let start = 0; start < userIds.length; start += USERS_PER_COMMIT) {
    signal?.throwIfAborted();
    const keys = userIds.slice(start, start + USERS_PER_COMMIT).map(userKey);
    await store.transaction(async (transaction) => {
      const dependents = await readDependents(transaction, keys);
      await onDeleting?.(transaction, dependents);
      await deleteWithClaims(transaction, dependents);
    });
  }
}

/**
 * Continues interrupted deletions of the organisations' users. If another organisation loses memberships because of
 * this, sets its last import to unknown.
 * @param options.onFound called with each batch of documents that refer to the users, before the batch is deleted
 */
export async function finishDeletions(
  store: Database,
  orgIds: ReadonlySet<string>,
  { onFound, onDeleting, ...options }: Pick<StripOptions, 'onFound' | 'signal' | 'onDeleting'>,
): Promise<void> {
  const users = new Map<string, string>();
  for await (const { orgId = '', body } of readMarked(store, orgIds, ['orgId', 'body']))
    users.set(textAt(parseObject(body), 'userId', ''), orgId);
  if (users.size === 0) return;
  const forgetting: OnDeleting = async (transaction, documents) => {
    await onDeleting?.(transaction, documents);
    const others = documents.filter(({ stored: { orgId = '' } }) => !orgIds.has(orgId));
    await forgetImports(transaction, others);
  };
  await deleteFound(store, observed(findReferring(store, users), onFound), {
    ...options,
    onDeleting: forgetting,
  });
  await deleteStripped(store, users, { ...options, onDeleting });
}

async function* observed(
  pages: AsyncIterable<readonly Stored[]>,
  onFound: StripOptions['onFound'],
): AsyncGenerator<readonly Stored[]> {
  for await (const documents of pages) {
    onFound?.(documents);
    yield documents;
  }
}
