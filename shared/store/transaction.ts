import { storeContention } from '../errors/storeErrors.ts';
import { Backoff } from '../retry.ts';
import type { FieldName } from './documentFields.ts';
import {
  type DocumentKey,
  documentPath,
  type Store,
  type StoredDocument,
  type Transaction,
  type Write,
  WriteConflictError,
} from './store.ts';

/** A document's version: it changes with every change of the document, and is undefined where there is none. */
export type Version = string | undefined;

/** The version that each document must have for a commit to apply, by path. */
export type ExpectedVersions = ReadonlyMap<string, { readonly key: DocumentKey; readonly version: Version }>;

/** Documents in the order of their keys, each with its version. */
export interface VersionedDocuments {
  readonly documents: (StoredDocument | undefined)[];
  readonly versions: readonly Version[];
}

/** A database without transactions: documents have versions, and a commit can require them. */
export interface VersionedDatabase {
  read(keys: readonly DocumentKey[], fields?: readonly FieldName[]): Promise<VersionedDocuments>;
  /**
   * Applies all writes where every expected document still has its version, else none.
   * @throws WriteConflictError
   */
  commit(writes: readonly Write[], expected: ExpectedVersions): Promise<void>;
}

const contentionPolicy = {
  attempts: (reason: unknown) => (reason instanceof WriteConflictError ? 12 : 1),
  initialDelayMs: 20,
  maxDelayMs: 1_000,
};

/**
 * Creates the store's method `transaction` without locks: it commits under the versions that it read, and reads and
 * decides again where another writer came between. A process that ends in the middle leaves nothing behind.
 */
export function createTransact(database: VersionedDatabase): Store['transaction'] {
  return async (work) => {
    const backoff = new Backoff(contentionPolicy);
    for (;;) {
      const attempt = new Attempt(database);
      const result = await work(attempt);
      try {
        await attempt.commit();
        return result;
      } catch (reason) {
        if (!(reason instanceof WriteConflictError) || !(await attempt.isOutdated())) throw reason;
        if (!(await backoff.failed(reason))) throw storeContention(reason);
      }
    }
  };
}

/** One attempt of a transaction: what it read, at which versions, and what it writes. */
class Attempt implements Transaction {
  private readonly database: VersionedDatabase;
  private readonly read = new Map<string, { readonly key: DocumentKey; readonly version: Version }>();
  private readonly held = new Set<string>();
  private readonly writes: Write[] = [];

  constructor(database: VersionedDatabase) {
    this.database = database;
  }

  readonly getMany: Transaction['getMany'] = async (keys, fields) => {
    const { documents, versions } = await this.database.read(keys, fields);
    for (const [index, key] of keys.entries()) {
      const path = documentPath(key);
      // The first version counts: a later one shows that another writer came between, and the commit finds that out.
      if (!this.read.has(path)) this.read.set(path, { key, version: versions[index] });
    }
    return documents;
  };

  readonly write: Transaction['write'] = (writes) => {
    for (const one of writes) this.writes.push(one);
  };

  readonly hold: Transaction['hold'] = (keys) => {
    for (const path of keys.map(documentPath)) {
      if (!this.read.has(path)) throw new Error(`${path} is held without having been read: read it first`);
      this.held.add(path);
    }
  };

  async commit(): Promise<void> {
    if (this.writes.length === 0) return;
    const touched = new Set([...this.held, ...this.writes.map(({ key }) => documentPath(key))]);
    const expected = new Map([...this.read].filter(([path]) => touched.has(path)));
    await this.database.commit(this.writes, expected);
  }

  /** Whether a document that was read has another version by now, so that another attempt may succeed. */
  async isOutdated(): Promise<boolean> {
    const read = [...this.read.values()];
    const { versions } = await this.database.read(
      read.map(({ key }) => key),
      [],
    );
    return read.some(({ version }, index) => version !== versions[index]);
  }
}
