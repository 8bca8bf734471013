import type { Database, Moment, VersionedDocuments } from './database.ts';
import { type FieldName, fieldNames } from './documentFields.ts';
import type { DatabaseGuard } from './secrets/keyRecord.ts';
import { hasSecrets, sealedFieldNames, sealWrites, unsealFields } from './secrets/sealedFields.ts';
import type {
  DocumentCounts,
  DocumentKey,
  DocumentStore,
  ScanRange,
  Snapshot,
  Store,
  StoreCall,
  StoredDocument,
} from './store.ts';
import { checkCommitSize, type TransactionDatabase, transact } from './transaction.ts';

/**
 * Creates a store on a database. If the master key is missing, operations with secrets fail; all other operations work.
 */
export function createStore<Past extends Moment>(database: Database<Past>, guard: DatabaseGuard): Store {
  return createCalledStore({ database, guard, counts: { read: 0, written: 0 } }, undefined);
}

interface Parts<Past extends Moment> {
  readonly database: Database<Past>;
  readonly guard: DatabaseGuard;
  readonly counts: { -readonly [Name in keyof DocumentCounts]: number };
}

interface Reads<Past extends Moment> {
  /** @param at the past state to read; if absent, the latest state */
  read(keys: readonly DocumentKey[], fields?: readonly FieldName[], at?: Past): Promise<VersionedDocuments>;
  scan(range: ScanRange, at: Past): AsyncIterable<readonly StoredDocument[]>;
}

function createReads<Past extends Moment>(
  { database, guard: { keyring }, counts }: Parts<Past>,
  call: StoreCall | undefined,
): Reads<Past> {
  const read: Reads<Past>['read'] = async (keys, fields = fieldNames, at) => {
    const stored = sealedFieldNames(fields);
    const result = await database.read(keys, stored, at, call);
    for (const document of result.documents) if (document !== undefined) counts.read++;
    if (stored === fields) return result;
    const documents = result.documents.map((document, index) => {
      const key = keys[index];
      return document && key && unsealFields(document, key, keyring);
    });
    return { documents, versions: result.versions };
  };

  async function* scan(range: ScanRange, at: Past): AsyncGenerator<readonly StoredDocument[]> {
    const { collection, fields = fieldNames } = range;
    const stored = sealedFieldNames(fields);
    for await (const documents of database.scan({ ...range, fields: stored }, at, call)) {
      counts.read += documents.length;
      yield stored === fields
        ? documents
        : documents.map((document) => unsealFields(document, { collection, id: document.id }, keyring));
    }
  }

  return { read, scan };
}

/** @param call the call that this store serves; undefined if it serves no particular call */
function createCalledStore<Past extends Moment>(parts: Parts<Past>, call: StoreCall | undefined): Store {
  const { database, guard, counts } = parts;
  const { read, scan } = createReads(parts, call);
  const commit: TransactionDatabase['commit'] = async (writes, expected, events) => {
    if (writes.length === 0 && events.length === 0) return;
    checkCommitSize(writes);
    await database.commit(writes, expected, events, call);
    counts.written += writes.length;
  };

  /** The operations that the guard itself uses. They do not call the guard. */
  const unguarded: Pick<DocumentStore, 'getMany' | 'commit'> = {
    getMany: async (keys, fields) => (await read(keys, fields)).documents,
    commit: (writes) => commit(writes, new Map(), []),
  };
  /**
   * Runs the guard's check in parallel with a read. If the check fails, throws its error instead of returning the
   * result.
   */
  const checked = <Result>(reading: Promise<Result>): Promise<Result> => {
    const check = guard.check(unguarded);
    return check === undefined ? reading : Promise.all([reading, check]).then(([result]) => result);
  };
  const transactions: TransactionDatabase = {
    read,
    commit,
    seal: async (writes, transaction) =>
      writes.some(hasSecrets) ? sealWrites(writes, await guard.writingKey(unguarded, transaction)) : writes,
  };
  const transaction: DocumentStore['transaction'] = async (work, until) => {
    await guard.check(unguarded);
    return transact(transactions, work, until);
  };

  const createSnapshot = (moment: Past): Snapshot => ({
    readTime: moment.readTime,
    getMany: async (keys, fields) => (await read(keys, fields, moment)).documents,
    scan: (range) => scan(range, moment),
    [Symbol.asyncDispose]: () => moment[Symbol.asyncDispose](),
  });

  return {
    getMany: (keys, fields) => checked(unguarded.getMany(keys, fields)),
    commit: async (writes) => {
      if (writes.some(hasSecrets)) return transaction(async ({ write }) => write(writes));
      await guard.check(unguarded);
      return unguarded.commit(writes);
    },
    transaction,
    snapshot: async () => createSnapshot(await checked(database.moment(call))),
    durable: () => database.commit([], new Map(), [], call),
    forCall: (next) => createCalledStore(parts, next),
    advice: () => database.advice(),
    close: () => database.close(),
    trail: database.trail,
    lock: database.lock,
    counts,
  };
}
