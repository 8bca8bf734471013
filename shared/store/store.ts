import { hash } from 'node:crypto';
import type { DocumentFields, FieldName } from './documentFields.ts';
import type { InstanceLock } from './lock/instanceLock.ts';

/**
 * The collections of documents. Most collections contain the records of one kind. `claims` contains the unique names of
 * an instance, each with the path of the record that has the name.
 */
export const collections = [
  'organisations',
  'settings',
  'texts',
  'domains',
  'identityProviders',
  'users',
  'userMetadata',
  'userLinks',
  'machineKeys',
  'projects',
  'projectRoles',
  'applications',
  'applicationKeys',
  'actions',
  'triggerActions',
  'projectGrants',
  'userGrants',
  'members',
  'claims',
  'tokens',
  'instance',
] as const;

/** The number of documents that bulk work reads in one operation. */
export const READ_BATCH = 500;

export type Collection = (typeof collections)[number];

/** The address of a document. Create the id with `documentId`, because the text of a caller may be an invalid id. */
export interface DocumentKey {
  readonly collection: Collection;
  readonly id: string;
}

export interface StoredDocument extends DocumentFields {
  readonly id: string;
}

/**
 * `create` requires that the document does not exist. `update` requires that it exists, and leaves other fields
 * unchanged. `delete` requires nothing.
 */
export type Write =
  | { readonly type: 'create'; readonly key: DocumentKey; readonly fields: DocumentFields }
  | { readonly type: 'update'; readonly key: DocumentKey; readonly fields: DocumentChanges }
  | { readonly type: 'delete'; readonly key: DocumentKey };

/** Fields to set; `null` removes the field. */
export type DocumentChanges = { readonly [Name in FieldName]?: DocumentFields[Name] | null };

export interface Reader {
  /**
   * Returns the documents in the order of `keys`.
   * @param fields the fields to read; if absent, all fields
   * @returns `undefined` for each document that does not exist
   */
  getMany(keys: readonly DocumentKey[], fields?: readonly FieldName[]): Promise<(StoredDocument | undefined)[]>;
}

/**
 * A document that must not change before the commit. If `version` is absent, the transaction must have read the
 * document already.
 */
interface HeldDocument extends DocumentKey {
  readonly version?: string;
}

/**
 * An optimistic transaction, which locks nothing. When `work` has returned, the transaction commits all its writes
 * together. The commit fails if a document that the transaction writes or holds has changed since the transaction read
 * it.
 */
export interface Transaction extends Reader {
  write(writes: readonly Write[]): void;
  /** Requires that documents do not change before the commit, although the transaction only reads them. */
  hold(documents: readonly HeldDocument[]): void;
  /**
   * Returns the versions of the documents that this transaction has read, and that have changed after a position (see
   * `InstanceLock`). The keys are the paths of the documents.
   */
  changedAfter(position: string): ReadonlyMap<string, string>;
  /**
   * Adds an event to the audit trail, if the database contains the trail. The writes and the event are committed
   * together.
   */
  record(event: TrailEvent): void;
}

/**
 * The work of a transaction, which may run several times.
 * @param earlier the results of earlier attempts. Each of these attempts failed because of a conflict, or was
 * committed, but its response was lost
 */
export type TransactionWork<Result> = (transaction: Transaction, earlier: readonly Result[]) => Promise<Result>;

export interface TrailEvent {
  /** ISO 8601, UTC. */
  readonly time: string;
}

interface StoredEvent {
  /** The position of the event in the order of commits, as a decimal number. It does not depend on clocks. */
  readonly cursor: string;
  readonly text: string;
}

/** The audit trail in a database. The trail is not a collection, so reads and writes of documents cannot access it. */
export interface Trail {
  /**
   * Commits a single event. Resolves when the event is durable.
   * @throws IdentityError UNAVAILABLE if the event cannot be written
   */
  append(event: TrailEvent): Promise<void>;
  /** Returns some hundred events after a cursor, oldest first. Returns an empty list if no event follows the cursor. */
  readAfter(cursor: string): readonly StoredEvent[];
  /** Returns the cursor of the newest event; `0` without events. */
  newest(): string;
  /**
   * Deletes some hundred of the oldest events that are older than `time`. Never deletes the newest event.
   * @returns the number of deleted events
   */
  deleteBefore(time: Date): Promise<number>;
}

export type ScanRange = IdRange | PartitionRange;

/**
 * The documents of a collection whose ids are not less than `from`. If `partition` is present, only the documents of
 * this partition. A scan returns them in the order of their ids. Each database defines this order, and never changes
 * it.
 */
export interface IdRange {
  readonly collection: Collection;
  readonly partition?: string;
  readonly from?: string;
  readonly fields?: readonly FieldName[];
}

/**
 * The documents of a collection whose partition is at least `from` and less than `to`, in the order of UTF-8 bytes. A
 * scan returns them by ascending partition, then by id. Its batches are small, because exports read many such scans in
 * turn.
 */
export interface PartitionRange {
  readonly collection: Collection;
  readonly partitions: { readonly from: string; readonly to: string };
  readonly fields?: readonly FieldName[];
}

export const PARTITION_SCAN_BATCH = 100;

/** The caller must dispose of the snapshot. */
export interface Snapshot extends Reader, AsyncDisposable {
  readonly readTime: Date;
  /**
   * Yields the documents of a range in order, in batches of up to some hundred documents. Reads no faster than the
   * caller consumes. Between batches, other work of the process can run.
   */
  scan(range: ScanRange): AsyncIterable<readonly StoredDocument[]>;
}

export interface DocumentStore extends Reader {
  /**
   * Applies all writes, or none of them.
   * @throws WriteConflictError if a precondition of a `create` or an `update` fails
   */
  commit(writes: readonly Write[]): Promise<void>;
  /**
   * Runs `work` and commits its writes if the documents that it read have not changed. After a conflict `work` runs
   * again, so it must have no other effects.
   * @param until when this signal aborts, the retries end, and its reason is thrown. If absent, the retries end after
   * some seconds
   * @throws WriteConflictError if a write conflicts with a document that `work` has not read; IdentityError ABORTED
   * when the last retry fails
   * @example
   *     await store.transaction(async (transaction) => {
   *       const [user] = await transaction.getMany([key], ['sequence']);
   *       transaction.write([{ type: 'update', key, fields: { sequence: (user?.sequence ?? 0) + 1 } }]);
   *     });
   */
  transaction<Result>(work: TransactionWork<Result>, until?: AbortSignal): Promise<Result>;
}

/** A call of a function, for which a store runs operations. */
export interface StoreCall {
  /**
   * Aborts at the call's deadline. An operation that has not succeeded then throws the signal's reason. SQLite does not
   * use the signal, because an embedded database is always reachable and never throttled.
   */
  readonly signal: AbortSignal;
  /**
   * True if the call writes many documents. The database then adapts the number of the call's commits in flight to its
   * load.
   */
  readonly isBulk?: boolean;
}

/** What a database recommends for bulk work under its present load. */
export interface Advice {
  /** The recommended number of records in a commit; `writes` is the maximum number of writes in a commit. */
  readonly records: number;
  readonly writes: number;
  readonly inFlight: number;
  /** The milliseconds for which a snapshot stays readable. */
  readonly snapshotMs: number;
  /**
   * Estimates the milliseconds that the creation of documents in a new collection takes at the recommended rate; 0 if
   * the database recommends no rate.
   */
  readonly creationMs: (documents: number) => number;
}

export interface DocumentCounts {
  readonly read: number;
  readonly written: number;
}

/** The database of an instance. Each implementation must pass `test/integration/store/`. */
export interface Store extends DocumentStore {
  /** Opens a snapshot of the present state, all of whose data is durable. Later writes do not change the snapshot. */
  snapshot(): Promise<Snapshot>;
  /**
   * Waits until all data that this process has read so far is durable. Call it before responding, if the response
   * depends on records that other calls wrote.
   */
  durable(): Promise<void>;
  /**
   * Returns the same database for the operations of one call. The store retries after temporary errors until the call's
   * deadline. After the deadline, it attempts each operation once, so that a batch that has begun can finish.
   */
  forCall(call: StoreCall): Store;
  advice(): Advice;
  close(): Promise<void>;
  /** The audit trail in the database; undefined if the platform's log is the audit trail. */
  readonly trail: Trail | undefined;
  /** The lock for imports, deletions and rotations of the master key; see `withLock` in `lock/fence.ts`. */
  readonly lock: InstanceLock;
  readonly counts: DocumentCounts;
}

/**
 * Returns a copy of a store in which some members are replaced. The same members are also replaced in the stores that
 * `forCall` of the copy returns.
 * @param decorate returns the members to replace
 */
export function decorateStore(store: Store, decorate: (store: Store, call?: StoreCall) => Partial<Store>): Store {
  const decorated = (inner: Store, call?: StoreCall): Store => ({
    ...inner,
    ...decorate(inner, call),
    forCall: (next) => decorated(inner.forCall(next), next),
  });
  return decorated(store);
}

/** A precondition of a commit has failed. The database has applied none of the commit's writes. */
export class WriteConflictError extends Error {
  override readonly name = 'WriteConflictError';
}

/** The maximum size of a commit in bytes. The emulator hangs above 4 MiB; Cloud Firestore accepts 10 MiB. */
export const MAX_COMMIT_BYTES = 3_000_000;
/** The maximum number of writes in a commit of bulk work. This is a former limit of Cloud Firestore. */
export const MAX_COMMIT_WRITES = 500;
/** The maximum size of a document in bytes. Cloud Firestore accepts 1 MiB, including the names of the fields. */
export const MAX_DOCUMENT_BYTES = 1_000_000;

/** The number of characters after which a scan yields its batch, even if the batch has few documents. */
export const SCANNED_CHARACTERS = 1_000_000;

/** Returns the unique path of a document in the database. */
export function documentPath({ collection, id }: DocumentKey): string {
  return `${collection}/${id}`;
}

const MAX_ID_BYTES = 1_400;

/**
 * Derives a document id from the parts of a natural key, which are percent-encoded. Firestore accepts ids of at most
 * 1,500 bytes, so this function truncates a longer key, and appends the hash of the whole key. A truncated id is always
 * longer than `MAX_ID_BYTES`, so that no short key can collide with it.
 * @example
 *     documentId('310716089541007', 'a/b'); // 310716089541007|a%2fb
 */
export function documentId(...parts: readonly string[]): string {
  let id = encodePart(parts[0] ?? '');
  for (let at = 1; at < parts.length; at++) id += `|${encodePart(parts[at] ?? '')}`;
  if (id.length * 3 <= MAX_ID_BYTES || Buffer.byteLength(id) <= MAX_ID_BYTES) return id;
  const truncated = Buffer.from(id)
    .subarray(0, MAX_ID_BYTES)
    .toString()
    .replace(/\uFFFD+$/, '');
  return `${truncated}~${hash('sha256', id)}`;
}

const RESERVED = /[%/|]/;

function encodePart(part: string): string {
  // Search first, because few texts contain a reserved character, and replacing costs more than searching.
  if (!RESERVED.test(part)) return part;
  return part.replace(/[%/|]/g, (character) => `%${character.charCodeAt(0).toString(16)}`);
}

export function distinctKeys(keys: readonly DocumentKey[]): DocumentKey[] {
  return [...new Map(keys.map((key) => [documentPath(key), key])).values()];
}

export async function readByPath(
  reader: Pick<Reader, 'getMany'>,
  keys: readonly DocumentKey[],
  fields: readonly FieldName[],
): Promise<Map<string, StoredDocument | undefined>> {
  const distinct = distinctKeys(keys);
  if (distinct.length === 0) return new Map();
  const documents = await reader.getMany(distinct, fields);
  return new Map(distinct.map((key, index) => [documentPath(key), documents[index]]));
}
