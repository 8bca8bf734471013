// What an adapter of a database implements. `createStore` builds everything else on it.

import type { FieldName } from './documentFields.ts';
import type { InstanceLock } from './lock/instanceLock.ts';
import type { Advice, DocumentKey, ScanRange, StoreCall, StoredDocument, Trail, TrailEvent, Write } from './store.ts';

/**
 * A document's version, which changes with every change; undefined for a missing document. The database orders all
 * changes: the text of a later version is greater.
 */
export type Version = string | undefined;

/** The version that each document must have for a commit to apply, by path. */
export type ExpectedVersions = ReadonlyMap<string, { readonly key: DocumentKey; readonly version: Version }>;

/** Documents in the order of their keys, each with its version. */
export interface VersionedDocuments {
  readonly documents: (StoredDocument | undefined)[];
  readonly versions: readonly Version[];
}

/** A past state of a database. Disposing of it ends its reads. */
export interface Moment extends AsyncDisposable {
  readonly readTime: Date;
}

/** A range of documents, and the fields to read. */
export type StoredRange = ScanRange & { readonly fields: readonly FieldName[] };

/**
 * A database whose documents have versions. Fields and writes are those that it stores: it knows nothing of secrets.
 * Each verb gets the call that it serves, if there is one. An adapter whose operations can fail for a while retries them
 * until the call's deadline; after the deadline, it attempts each once, so that a batch that has begun can finish.
 */
export interface Database<Past extends Moment> {
  /** Reads documents of one state: the latest, or a past one. */
  read(
    keys: readonly DocumentKey[],
    fields: readonly FieldName[],
    at: Past | undefined,
    call: StoreCall | undefined,
  ): Promise<VersionedDocuments>;
  /**
   * Yields the documents of a range in its order, in batches of up to some hundreds. Reads as fast as it is consumed, and
   * lets other work of the process run between batches.
   */
  scan(range: StoredRange, at: Past, call: StoreCall | undefined): AsyncIterable<readonly StoredDocument[]>;
  /**
   * Applies all writes if every expected document still has its version, otherwise none. Resolves when they are durable,
   * and all data that reads have returned before; a commit of nothing waits for that alone.
   * @param events are committed with them; a database without a trail gets none
   * @throws WriteConflictError
   */
  commit(
    writes: readonly Write[],
    expected: ExpectedVersions,
    events: readonly TrailEvent[],
    call: StoreCall | undefined,
  ): Promise<void>;
  /** Fixes the present state, all of which is durable. */
  moment(call: StoreCall | undefined): Promise<Past>;
  advice(): Advice;
  close(): Promise<void>;
  /** The audit trail; undefined for a database whose trail is the platform's log. */
  readonly trail: Trail | undefined;
  readonly lock: InstanceLock;
}
