// The `Store` interface: documents, transactions, snapshots and the audit trail.

import { hash } from 'node:crypto';
import type { DocumentFields, FieldName } from './documentFields.ts';
import type { InstanceLock } from './lock/instanceLock.ts';

/**
 * Every collection of the store; most contain one kind of record. `claims` contains the unique names of an instance.
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

/** The number of documents that bulk work reads at once. */
export const READ_BATCH = 500;

export type Collection = (typeof collections)[number];

/** The address of a document. `id` must come from `documentId`, never directly from a caller. */
export interface DocumentKey {
  readonly collection: Collection;
  readonly id: string;
}

/** A stored document with the requested fields. */
export interface StoredDocument extends DocumentFields {
  readonly id: string;
}

/**
 * One write of a commit. `create` requires that the document does not exist. `update` requires that it exists, and
 * changes only the given fields. `delete` has no precondition.
 */
export type Write =
  | { readonly type: 'create'; readonly key: DocumentKey; readonly fields: DocumentFields }
  | { readonly type: 'update'; readonly key: DocumentKey; readonly fields: DocumentChanges }
  | { readonly type: 'delete'; readonly key: DocumentKey };

/** The fields to set; `null` removes a field. */
export type DocumentChanges = { readonly [Name in FieldName]?: DocumentFields[Name] | null };

/** A source of documents by key. */
export interface Reader {
  /**
   * Reads documents in the order of `keys`.
   * @param fields the fields to read; by default all fields
   * @returns `undefined` for each document that does not exist
   */
  getMany(keys: readonly DocumentKey[], fields?: readonly FieldName[]): Promise<(StoredDocument | undefined)[]>;
}

/**
 * A document that must not change before the commit. The transaction must have read the document, unless `version` is
 * given.
 */
interface HeldDocument extends DocumentKey {
  readonly version?: string;
}

/**
 * An optimistic transaction without locks. After `work` has returned, the transaction applies all writes together. It
 * fails if a document that it writes or holds has changed since it read the document.
 */
export interface Transaction extends Reader {
  /** Adds writes, which the transaction commits at its end. */
  write(writes: readonly Write[]): void;
  /** Requires that documents that were read but are not written do not change before the commit. */
  hold(documents: readonly HeldDocument[]): void;
  /**
   * Returns the documents that this transaction has read and that have changed after a position of `InstanceLock`. The
   * result contains their versions by path.
   */
  changedAfter(position: string): ReadonlyMap<string, string>;
  /**
   * Adds an event to the database's audit trail, if the database has a trail. The commit contains both the event and
   * the writes.
   */
  record(event: TrailEvent): void;
}

/**
 * The work of a transaction.
 * @param earlier the results of earlier attempts, each of which met a conflict, or was committed although its response
 * was lost
 */
export type TransactionWork<Result> = (transaction: Transaction, earlier: readonly Result[]) => Promise<Result>;

/** An event of a trail, which is stored as JSON. */
export interface TrailEvent {
  /** ISO 8601, UTC. */
  readonly time: string;
}

interface StoredEvent {
  /** The event's place in the order of commits, which does not depend on clocks: a decimal number. */
  readonly cursor: string;
  readonly text: string;
}

/** The audit trail in a database. Operations on documents cannot read the trail. */
export interface Trail {
  /**
   * Commits a single event, and resolves when the event is durable.
   * @throws IdentityError UNAVAILABLE when the event cannot be written
   */
  append(event: TrailEvent): Promise<void>;
  /** Reads some hundreds of events after a cursor, oldest first; returns none at the end. */
  readAfter(cursor: string): readonly StoredEvent[];
  /** Returns the cursor of the newest event; `0` if there are no events. */
  newest(): string;
  /**
   * Deletes some hundreds of the oldest events before `time`, but never the newest event.
   * @returns the number of deleted events
   */
  deleteBefore(time: Date): Promise<number>;
}

/** The documents that a scan reads. */
export type ScanRange = IdRange | PartitionRange;

/**
 * The documents of a collection whose ids are not less than `from`, in one partition or in all partitions. Scans read
 * them in the database's order of ids, which never changes.
 */
export interface IdRange {
  readonly collection: Collection;
  readonly partition?: string;
  readonly from?: string;
  readonly fields?: readonly FieldName[];
}

/**
 * A range of partitions in a collection, read by ascending partition, then id. Partitions are ordered by their UTF-8
 * bytes; `from` is inclusive, `to` exclusive. Batches are small, so that many such scans can be read alternately.
 */
export interface PartitionRange {
  readonly collection: Collection;
  readonly partitions: { readonly from: string; readonly to: string };
  readonly fields?: readonly FieldName[];
}

/** The number of documents in a batch of a scan over several partitions. */
export const PARTITION_SCAN_BATCH = 100;

/** A read-only view of the database at one moment. The caller must dispose of the view. */
export interface Snapshot extends Reader, AsyncDisposable {
  readonly readTime: Date;
  /**
   * Yields the documents of a range in the range's order, in batches of up to some hundreds. Reads only as fast as the
   * caller consumes, and lets other work of the process run between batches.
   */
  scan(range: ScanRange): AsyncIterable<readonly StoredDocument[]>;
}

/** Read and write access to the latest state. */
export interface DocumentStore extends Reader {
  /**
   * Applies all writes or none.
   * @throws WriteConflictError when a precondition of a `create` or an `update` fails
   */
  commit(writes: readonly Write[]): Promise<void>;
  /**
   * Runs `work` and commits its writes if the documents that it read have not changed. After a conflict `work` runs
   * again, so it must have no other effects.
   * @param until ends the retries, with its reason; by default, they end after some seconds
   * @throws WriteConflictError for a conflict with a document that was not read; IdentityError ABORTED when the last
   * retry fails
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
   * Aborts at the call's deadline. An operation that has not succeeded by then throws the signal's reason. Only
   * databases that can be throttled or unreachable use the signal.
   */
  readonly signal: AbortSignal;
  /**
   * Whether the call writes many documents. The number of its commits in flight then adapts to the load of the
   * database.
   */
  readonly isBulk?: boolean;
}

/** The recommended sizes for bulk work on a database, given its present load. */
export interface Advice {
  /** The recommended number of records in a commit, and the maximum number of writes. */
  readonly records: number;
  readonly writes: number;
  /** The recommended number of commits in flight. */
  readonly inFlight: number;
  /** How many milliseconds a snapshot stays readable. */
  readonly snapshotMs: number;
  /**
   * Estimates how many milliseconds the database recommends for creating documents in a new collection; 0 if it
   * recommends no rate.
   */
  readonly creationMs: (documents: number) => number;
}

/** The numbers of documents that a process has read from a database and written to it. */
export interface DocumentCounts {
  readonly read: number;
  readonly written: number;
}

/** The database of one instance. All implementations pass `test/integration/store/`. */
export interface Store extends DocumentStore {
  /** Opens a snapshot of the present state, all of which is durable. Later writes do not change the snapshot. */
  snapshot(): Promise<Snapshot>;
  /**
   * Waits until all data that was read so far is durable. A call must wait for this before it responds if its response
   * depends on records of other calls.
   */
  durable(): Promise<void>;
  /**
   * Returns the same database for the operations of a single call. Until the call's deadline, the store retries
   * transient errors. After the deadline, the store attempts each operation once, so that a batch that has begun can
   * finish.
   */
  forCall(call: StoreCall): Store;
  advice(): Advice;
  close(): Promise<void>;
  /** The audit trail; undefined if the platform's log is the trail. */
  readonly trail: Trail | undefined;
  /** The lock that imports, deletions and rotations of the master key acquire; see `withLock` in `lock/fence.ts`. */
  readonly lock: InstanceLock;
  /** The document counts of all calls. */
  readonly counts: DocumentCounts;
}

/**
 * Returns a store with some members replaced, in the store itself and in the store of each call.
 * @param decorate returns the replaced members
 */
export function decorateStore(store: Store, decorate: (store: Store, call?: StoreCall) => Partial<Store>): Store {
  const decorated = (inner: Store, call?: StoreCall): Store => ({
    ...inner,
    ...decorate(inner, call),
    forCall: (next) => decorated(inner.forCall(next), next),
  });
  return decorated(store);
}

/** The error of a commit whose precondition has failed. The database applied none of the commit's writes. */
export class WriteConflictError extends Error {
  override readonly name = 'WriteConflictError';
}

/** The size limit of a commit. The emulator hangs above 4 MiB; Cloud Firestore accepts 10 MiB. */
export const MAX_COMMIT_BYTES = 3_000_000;
/** The maximum number of writes in a commit of bulk work. This was once a limit of Cloud Firestore. */
export const MAX_COMMIT_WRITES = 500;
/** The size limit of a document. Cloud Firestore accepts 1 MiB, field names included. */
export const MAX_DOCUMENT_BYTES = 1_000_000;

/** The number of characters after which a scan yields its batch. */
export const SCANNED_CHARACTERS = 1_000_000;

/** Returns a document's path, which is unique in the database. */
export function documentPath({ collection, id }: DocumentKey): string {
  return `${collection}/${id}`;
}

const MAX_ID_BYTES = 1_400;

/**
 * Derives the document id of a natural key: its percent-encoded parts. Firestore accepts ids of at most 1,500 bytes, so
 * a longer key is truncated and ends in its full hash. A truncated id is always longer than `MAX_ID_BYTES`, so that no
 * short key can collide with it.
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
  // Search first: few parts contain a reserved character, and a replacement costs more than the search.
  if (!RESERVED.test(part)) return part;
  return part.replace(/[%/|]/g, (character) => `%${character.charCodeAt(0).toString(16)}`);
}

/** Returns the keys without duplicates, in the order of their first occurrence. */
export function distinctKeys(keys: readonly DocumentKey[]): DocumentKey[] {
  return [...new Map(keys.map((key) => [documentPath(key), key])).values()];
}

/** Reads each document once, and returns the documents by `documentPath`. */
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
