import { hash } from 'node:crypto';
import { type DocumentFields, type FieldName, fieldNames } from './documentFields.ts';

/** Every collection of the store. One a kind of record; `claims` holds what must be unique in an instance. */
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

/** The name of a collection. */
export type Collection = (typeof collections)[number];

/** Where a document is: `id` comes from `documentId`, never from a caller directly. */
export interface DocumentKey {
  readonly collection: Collection;
  readonly id: string;
}

/** A stored document with the fields that were asked for. */
export interface StoredDocument extends DocumentFields {
  readonly id: string;
}

/**
 * One write of a commit. `create` needs the document to be absent, `update` needs it to be there and changes only the
 * fields given (`null` removes one), `delete` takes it away whether or not it is there.
 */
export type Write =
  | { readonly type: 'create'; readonly key: DocumentKey; readonly fields: DocumentFields }
  | { readonly type: 'update'; readonly key: DocumentKey; readonly fields: DocumentChanges }
  | { readonly type: 'delete'; readonly key: DocumentKey };

/** Fields to set, or with `null` to remove. */
export type DocumentChanges = { readonly [Name in FieldName]?: DocumentFields[Name] | null };

/** Reads documents by their keys. */
export interface Reader {
  /** Reads the documents of `keys`, in their order; `undefined` where there is none. `fields` narrows what is read. */
  getMany(keys: readonly DocumentKey[], fields?: readonly FieldName[]): Promise<(StoredDocument | undefined)[]>;
}

/** Reads of a transaction see one state; its writes are applied together, after `work` has returned. */
export interface Transaction extends Reader {
  /** Adds writes to what is committed at the end. */
  write(writes: readonly Write[]): void;
}

/** A range of one collection. `from` is inclusive, `to` exclusive, both document ids; without `partition` all of them. */
export interface ScanRange {
  readonly collection: Collection;
  readonly partition?: string;
  readonly from?: string;
  readonly to?: string;
  readonly fields?: readonly FieldName[];
}

/** The database as it was at one moment. Dispose of it when done. */
export interface Snapshot extends Reader, AsyncDisposable {
  readonly readTime: Date;
  /** The documents of a range in the order of their ids, in arrays of some hundreds, read as they are consumed. */
  scan(range: ScanRange): AsyncIterable<readonly StoredDocument[]>;
}

/** Reads and writes of the latest state. */
export interface DocumentStore extends Reader {
  /**
   * Applies all writes or none.
   * @throws WriteConflict when a `create` meets a document or an `update` meets none
   */
  commit(writes: readonly Write[]): Promise<void>;
  /**
   * Runs `work` on one consistent state and commits what it wrote; runs it again when another writer came between.
   * `work` must do nothing but read through its transaction, and may run several times.
   * @throws WriteConflict as `commit`; IdentityError ABORTED when it lost against other writers too often
   */
  transaction<Result>(work: (transaction: Transaction) => Promise<Result>): Promise<Result>;
}

/** The database of one instance. Both implementations pass `test/integration/store*.test.ts`. */
export interface Store extends DocumentStore {
  /** The state as of now, not changed by later writes. */
  snapshot(): Promise<Snapshot>;
  close(): Promise<void>;
}

/** A commit met a document that must not be there, or missed one that must. Nothing of the commit was applied. */
export class WriteConflictError extends Error {
  override readonly name = 'WriteConflict';
}

/** What a commit may weigh: the emulator hangs above 4 MiB, Cloud Firestore takes 10 MiB. */
export const MAX_COMMIT_BYTES = 3_000_000;
/** What one document may weigh: Cloud Firestore takes 1 MiB with its field names. */
export const MAX_DOCUMENT_BYTES = 1_000_000;

const MAX_ID_BYTES = 1_400;

/**
 * The document id of a natural key: two hex digits of the key's hash (ids that grow with time would make a hot spot, and
 * the prefix gives ranges for parallel reads), then the parts, percent-encoded where a path would misread them.
 * Firestore takes ids of at most 1,500 bytes, so a longer key ends in its full hash instead. Such an id is always longer
 * than `MAX_ID_BYTES`, so no short key, however it is chosen, can have the same id.
 */
export function documentId(...parts: readonly string[]): string {
  const key = parts.map(encodePart).join('|');
  const digest = hash('sha256', key);
  const id = `${digest.slice(0, 2)}~${key}`;
  if (Buffer.byteLength(id) <= MAX_ID_BYTES) return id;
  const kept = Buffer.from(id).subarray(0, MAX_ID_BYTES).toString().replace(/�+$/, '');
  return `${kept}~${digest}`;
}

function encodePart(part: string): string {
  return part.replace(/[%/|]/g, (character) => `%${character.charCodeAt(0).toString(16)}`);
}

// Callers count roughly, so they get some room before the emulator's limit of 4 MiB, above which a commit never ends.
const REFUSED_ABOVE_BYTES = MAX_COMMIT_BYTES * 1.3;
// The path before the document id, the precondition, and the tags and lengths of the messages around them.
const BYTES_PER_WRITE = 150;
const BYTES_PER_FIELD = 24;

/**
 * Refuses a commit that some implementation of the store could not take: whoever builds commits keeps them small.
 * @throws Error when the writes are larger than a commit may be
 */
export function checkCommitSize(writes: readonly Write[]): void {
  const size = writes.reduce((sum, write) => sum + weigh(write), 0);
  if (size <= REFUSED_ABOVE_BYTES) return;
  throw new Error(
    `a commit of ${writes.length} writes and ${size} bytes: at most ${MAX_COMMIT_BYTES} bytes may be given`,
  );
}

function weigh(write: Write): number {
  const size = BYTES_PER_WRITE + Buffer.byteLength(write.key.id);
  return write.type === 'delete' ? size : size + weighFields(write.fields);
}

function weighFields(fields: Extract<Write, { type: 'update' }>['fields']): number {
  let size = 0;
  for (const name of fieldNames) {
    const value = fields[name];
    if (value !== undefined) size += BYTES_PER_FIELD + (typeof value === 'string' ? Buffer.byteLength(value) : 8);
  }
  return size;
}
