// The interface of a database adapter. `createStore` builds the store on top of an adapter.

import type { FieldName } from './documentFields.ts';
import type { InstanceLock } from './lock/instanceLock.ts';
import type { Advice, DocumentKey, ScanRange, StoreCall, StoredDocument, Trail, TrailEvent, Write } from './store.ts';

/**
 * A document's version, which changes with every write; undefined for a missing document. Of two changes, the later has
 * the greater version, compared as texts.
 */
export type Version = string | undefined;

/** For each document path, the version that the document must have for the commit to succeed. */
export type ExpectedVersions = ReadonlyMap<string, { readonly key: DocumentKey; readonly version: Version }>;

/** Documents in the order of the requested keys, each with its version. */
export interface VersionedDocuments {
  readonly documents: (StoredDocument | undefined)[];
  readonly versions: readonly Version[];
}

/** A past state of a database. It cannot be read after it was disposed of. */
export interface Moment extends AsyncDisposable {
  readonly readTime: Date;
}

/** A range of documents, and the fields to read. */
export type StoredRange = ScanRange & { readonly fields: readonly FieldName[] };

/**
 * A database with versioned documents. It does not encrypt: the store passes only encrypted secrets. Each method
 * receives the call that it serves, if any. If an operation fails temporarily, the adapter retries it until the call's
 * deadline. After the deadline, the adapter attempts each operation once, so that the call can finish a batch that has
 * begun.
 */
export interface Database<Past extends Moment> {
  /** Reads documents of a single state of the database: the past state `at`, or the latest state. */
  read(
    keys: readonly DocumentKey[],
    fields: readonly FieldName[],
    at: Past | undefined,
    call: StoreCall | undefined,
  ): Promise<VersionedDocuments>;
  /**
   * Yields the documents of a range in the range's order, in batches of up to some hundreds. Reads only as fast as the
   * caller consumes, and lets other work of the process run between batches.
   */
  scan(range: StoredRange, at: Past, call: StoreCall | undefined): AsyncIterable<readonly StoredDocument[]>;
  /**
   * Applies all writes if every expected document still has its version, otherwise none. Resolves when the writes, and
   * all data that earlier reads returned, are durable. A commit without writes only waits until that data is durable.
   * @param events the events to commit with the writes; empty for a database without a trail
   * @throws WriteConflictError
   */
  commit(
    writes: readonly Write[],
    expected: ExpectedVersions,
    events: readonly TrailEvent[],
    call: StoreCall | undefined,
  ): Promise<void>;
  /** Returns the present state. All data of this state is durable. */
  moment(call: StoreCall | undefined): Promise<Past>;
  advice(): Advice;
  close(): Promise<void>;
  /** The audit trail; undefined if the platform's log is the trail. */
  readonly trail: Trail | undefined;
  readonly lock: InstanceLock;
}
