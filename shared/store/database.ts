import type { FieldName } from './documentFields.ts';
import type { InstanceLock } from './lock/instanceLock.ts';
import type { Advice, DocumentKey, ScanRange, StoreCall, StoredDocument, Trail, TrailEvent, Write } from './store.ts';

/**
 * The version of a document; undefined for a missing document. Versions are compared as texts, and increase with every
 * change.
 */
export type Version = string | undefined;

/** The versions that documents must have for a commit to succeed. The keys are the paths of the documents. */
export type ExpectedVersions = ReadonlyMap<string, { readonly key: DocumentKey; readonly version: Version }>;

/** Documents and their versions, in the order of the requested keys. */
export interface VersionedDocuments {
  readonly documents: (StoredDocument | undefined)[];
  readonly versions: readonly Version[];
}

/** A past state of the database. It can be read until this object is disposed of. */
export interface Moment extends AsyncDisposable {
  readonly readTime: Date;
}

export type StoredRange = ScanRange & { readonly fields: readonly FieldName[] };

/**
 * A database whose documents have versions. It does not encrypt secrets, because the store has already encrypted them.
 * In each operation, `call` is the call that the operation serves, if any. The adapter retries an operation after a
 * temporary failure until the call's deadline. After the deadline, the adapter attempts each operation once, so that
 * the call can finish a batch that has begun.
 */
export interface Database<Past extends Moment> {
  read(
    keys: readonly DocumentKey[],
    fields: readonly FieldName[],
    at: Past | undefined,
    call: StoreCall | undefined,
  ): Promise<VersionedDocuments>;
  /**
   * Yields the documents of a range in order, in batches of up to some hundred documents. Reads no faster than the
   * caller consumes. Between batches, other work of the process can run.
   */
  scan(range: StoredRange, at: Past, call: StoreCall | undefined): AsyncIterable<readonly StoredDocument[]>;
  /**
   * Applies all writes if every document in `expected` still has its version; otherwise applies none. When the promise
   * resolves, the writes are durable. All data that earlier reads returned is then durable too; if `writes` is empty,
   * the commit only waits for this.
   * @param events the audit events to commit with the writes; empty for a database without a trail
   * @throws WriteConflictError if a document does not have the expected version, or if a precondition of a write fails
   */
  commit(
    writes: readonly Write[],
    expected: ExpectedVersions,
    events: readonly TrailEvent[],
    call: StoreCall | undefined,
  ): Promise<void>;
  /** Returns the latest state, all of whose data is durable. */
  moment(call: StoreCall | undefined): Promise<Past>;
  advice(): Advice;
  close(): Promise<void>;
  readonly trail: Trail | undefined;
  readonly lock: InstanceLock;
}
