import { type DocumentFields, type FieldName, fieldNames } from '../../../shared/store/documentFields.ts';
import {
  type DocumentChanges,
  type DocumentKey,
  type DocumentStore,
  type Snapshot,
  type StoredDocument,
  type Transaction,
  type TransactionWork,
  type Write,
  WriteConflictError,
} from '../../../shared/store/store.ts';

/**
 * A store in memory for unit tests. It returns only the requested fields, enforces preconditions, and records its reads and
 * writes.
 */
export class MemoryStore implements DocumentStore {
  /** The reads, each with its keys and fields. */
  readonly reads: { readonly keys: readonly DocumentKey[]; readonly fields: readonly FieldName[] }[] = [];
  /** The writes of all commits that succeeded. */
  readonly writes: Write[] = [];
  private documents = new Map<string, DocumentFields>();

  /** Creates a store with documents. They do not count as reads or writes. */
  static async with(writes: readonly Write[]): Promise<MemoryStore> {
    const store = new MemoryStore();
    await store.commit(writes);
    store.forget();
    return store;
  }

  /** Clears the recorded reads and writes. */
  forget(): void {
    this.reads.length = 0;
    this.writes.length = 0;
  }

  async getMany(
    keys: readonly DocumentKey[],
    fields: readonly FieldName[] = fieldNames,
  ): Promise<(StoredDocument | undefined)[]> {
    this.reads.push({ keys, fields });
    return this.find(keys, fields);
  }

  /** Returns a view of the current documents. */
  async view(): Promise<Snapshot> {
    const documents = [...this.documents];
    return {
      readTime: new Date(0),
      getMany: async (keys, fields = fieldNames) => this.find(keys, fields),
      scan: async function* ({ collection, ...range }) {
        const ofCollection = documents.filter(([path]) => path.startsWith(`${collection}/`));
        const found = ofCollection.map(([path, fields]) => ({ ...fields, id: path.slice(collection.length + 1) }));
        yield 'partition' in range ? found.filter(({ partition }) => partition === range.partition) : found;
      },
      [Symbol.asyncDispose]: async () => {},
    };
  }

  async commit(writes: readonly Write[]): Promise<void> {
    const documents = new Map(this.documents);
    for (const write of writes) applyWrite(documents, write);
    this.documents = documents;
    this.writes.push(...writes);
  }

  /** Runs `work` twice, as after a conflict with another writer, and commits the writes of the second run. */
  async transaction<Result>(work: TransactionWork<Result>): Promise<Result> {
    const unread: Transaction = {
      getMany: async (keys, fields = fieldNames) => this.find(keys, fields),
      write: () => {},
      hold: () => {},
      record: () => {},
      changedAfter: () => new Map(),
    };
    const earlier = [await work(unread, [])];
    const writes: Write[] = [];
    const repeated: Transaction = {
      getMany: (keys, fields) => this.getMany(keys, fields),
      write: (some) => void writes.push(...some),
      hold: () => {},
      record: () => {},
      changedAfter: () => new Map(),
    };
    const result = await work(repeated, earlier);
    await this.commit(writes);
    return result;
  }

  private find(keys: readonly DocumentKey[], fields: readonly FieldName[]): (StoredDocument | undefined)[] {
    return keys.map((key) => {
      const document = this.documents.get(place(key));
      return document === undefined ? undefined : { id: key.id, ...pick(document, fields) };
    });
  }
}

function applyWrite(documents: Map<string, DocumentFields>, write: Write): void {
  const name = place(write.key);
  if (write.type === 'delete') {
    documents.delete(name);
    return;
  }
  const present = documents.get(name);
  if ((write.type === 'create') !== (present === undefined)) throw new WriteConflictError(`${write.type} of ${name}`);
  documents.set(name, pick({ ...present, ...write.fields }, fieldNames));
}

function place({ collection, id }: DocumentKey): string {
  return `${collection}/${id}`;
}

function pick(fields: DocumentChanges, names: readonly FieldName[]): DocumentFields {
  return Object.fromEntries(names.flatMap((name) => (fields[name] == null ? [] : [[name, fields[name]]])));
}
