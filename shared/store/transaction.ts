import { storeContention } from '../errors/storeErrors.ts';
import { Backoff } from '../retry.ts';
import type { ExpectedVersions, Version, VersionedDocuments } from './database.ts';
import type { FieldName } from './documentFields.ts';
import {
  type DocumentKey,
  documentPath,
  MAX_COMMIT_BYTES,
  type TrailEvent,
  type Transaction,
  type TransactionWork,
  type Write,
  WriteConflictError,
} from './store.ts';

export interface TransactionDatabase {
  read(keys: readonly DocumentKey[], fields?: readonly FieldName[]): Promise<VersionedDocuments>;
  commit(writes: readonly Write[], expected: ExpectedVersions, events: readonly TrailEvent[]): Promise<void>;
  seal(writes: readonly Write[], transaction: Transaction): Promise<readonly Write[]>;
}

const contentionPolicy = { initialDelayMs: 20, maxDelayMs: 1_000 };
const MAX_ATTEMPTS = 12;

/**
 * Runs an optimistic transaction: commits if the documents that it read have not changed, and otherwise starts again.
 * If the process ends before the commit, the database is unchanged.
 */
export async function transact<Result>(
  database: TransactionDatabase,
  work: TransactionWork<Result>,
  until: AbortSignal | undefined,
): Promise<Result> {
  const attempts = () => (until === undefined ? MAX_ATTEMPTS : Number.POSITIVE_INFINITY);
  const backoff = new Backoff({ ...contentionPolicy, attempts }, until);
  const earlier: Result[] = [];
  for (;;) {
    const attempt = new TransactionAttempt(database);
    const result = await work(attempt, earlier);
    try {
      await attempt.commit();
      return result;
    } catch (reason) {
      // If the database repeatedly aborts the commit, start the whole transaction again, because only a new read shows
      // whether a document has changed.
      const isAborted = storeContention.is(reason);
      const isConflict = reason instanceof WriteConflictError && (await attempt.isOutdated());
      if (!isAborted && !isConflict) throw reason;
      if (!(await backoff.failed(reason))) throw storeContention({}, { cause: reason });
      earlier.push(result);
    }
  }
}

class TransactionAttempt implements Transaction {
  private readonly database: TransactionDatabase;
  // Keep lists instead of a map by path, because lists cost less. Most transactions of a repeated import write nothing,
  // and then need no paths.
  private readonly reads: { readonly keys: readonly DocumentKey[]; readonly versions: readonly Version[] }[] = [];
  private readonly held = new Set<string>();
  private readonly writes: Write[] = [];
  private readonly events: TrailEvent[] = [];

  constructor(database: TransactionDatabase) {
    this.database = database;
  }

  readonly getMany: Transaction['getMany'] = async (keys, fields) => {
    const { documents, versions } = await this.database.read(keys, fields);
    this.reads.push({ keys, versions });
    return documents;
  };

  readonly write: Transaction['write'] = (writes) => {
    for (const write of writes) this.writes.push(write);
  };

  readonly hold: Transaction['hold'] = (documents) => {
    for (const { version, ...key } of documents)
      if (version !== undefined) this.reads.push({ keys: [key], versions: [version] });
    const read = this.readDocuments();
    for (const path of documents.map(documentPath)) {
      if (!read.has(path)) throw new Error(`${path} is held without having been read: read it first`);
      this.held.add(path);
    }
  };

  readonly changedAfter: Transaction['changedAfter'] = (position) => {
    const changed = new Map<string, string>();
    for (const { keys, versions } of this.reads)
      for (const [index, key] of keys.entries()) {
        const version = versions[index] ?? '';
        if (version > position) changed.set(documentPath(key), version);
      }
    return changed;
  };

  readonly record: Transaction['record'] = (event) => void this.events.push(event);

  async commit(): Promise<void> {
    const writes = await this.database.seal(this.writes, this);
    const touched = new Set([...this.held, ...writes.map(({ key }) => documentPath(key))]);
    const read = touched.size === 0 ? [] : [...this.readDocuments()];
    await this.database.commit(writes, new Map(read.filter(([path]) => touched.has(path))), this.events);
  }

  /**
   * Returns whether a document that the attempt has read has another version now. If so, a further attempt may succeed.
   */
  async isOutdated(): Promise<boolean> {
    const read = [...this.readDocuments().values()];
    const { versions } = await this.database.read(
      read.map(({ key }) => key),
      [],
    );
    return read.some(({ version }, index) => version !== versions[index]);
  }

  /**
   * Returns the documents that were read. The keys are the paths of the documents. If a document was read twice, the
   * result contains its first version, so that the commit fails if the second version differs.
   */
  private readDocuments(): ExpectedVersions {
    const documents = new Map<string, { readonly key: DocumentKey; readonly version: Version }>();
    for (const { keys, versions } of this.reads)
      for (const [index, key] of keys.entries()) {
        const path = documentPath(key);
        if (!documents.has(path)) documents.set(path, { key, version: versions[index] });
      }
    return documents;
  }
}

// The limit at which a commit is rejected. It exceeds `MAX_COMMIT_BYTES`, because callers only estimate sizes, but
// stays below the emulator's limit of 4 MiB.
const HARD_LIMIT_BYTES = MAX_COMMIT_BYTES * 1.3;
// The assumed number of bytes of a write in addition to the id and the fields. These bytes contain the path before the
// id, the precondition, and the tags and lengths of messages.
const BYTES_PER_WRITE = 150;
const BYTES_PER_FIELD = 24;

/**
 * Requires that a commit is small enough for every implementation of the store. Callers must divide larger commits.
 * @throws Error if the commit is too large
 */
export function checkCommitSize(writes: readonly Write[]): void {
  // A UTF-16 code unit needs at most three bytes. Use this estimate first, because counting the bytes takes time, and
  // few commits come near the limit.
  if (estimateSize(writes, (text) => 3 * text.length) <= HARD_LIMIT_BYTES) return;
  const size = estimateSize(writes, Buffer.byteLength);
  if (size <= HARD_LIMIT_BYTES) return;
  throw new Error(
    `a commit of ${writes.length} writes and ${size} bytes: a commit has at most ${MAX_COMMIT_BYTES} bytes`,
  );
}

function estimateSize(writes: readonly Write[], sizeOf: (text: string) => number): number {
  let size = 0;
  for (const write of writes) {
    size += BYTES_PER_WRITE + sizeOf(write.key.id);
    if (write.type === 'delete') continue;
    const fields: Readonly<Record<string, unknown>> = write.fields;
    for (const name in fields) {
      const value = fields[name];
      size += BYTES_PER_FIELD + (typeof value === 'string' ? sizeOf(value) : 8);
    }
  }
  return size;
}
