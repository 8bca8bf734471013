import type { FieldName } from '../../shared/store/documentFields.ts';
import { type Collection, documentId, type Snapshot, type StoredDocument } from '../../shared/store/store.ts';

/** Bounds the cache, which is cleared when it exceeds this size. */
const MAX_CACHED = 10_000;

/** A cache of one collection's documents, by their ids. Many records of an export refer to the same few. */
export class CachedDocuments {
  private readonly snapshot: Snapshot;
  private readonly collection: Collection;
  private readonly fields: readonly FieldName[];
  /** Undefined for an id without a document. */
  private readonly cached = new Map<string, StoredDocument | undefined>();

  constructor(snapshot: Snapshot, collection: Collection, fields: readonly FieldName[]) {
    this.snapshot = snapshot;
    this.collection = collection;
    this.fields = fields;
  }

  /**
   * Finds documents, with one read for all that are not cached.
   * @returns the existing ones by id
   */
  async find(ids: Iterable<string>): Promise<ReadonlyMap<string, StoredDocument>> {
    if (this.cached.size > MAX_CACHED) this.cached.clear();
    const unique = [...new Set(ids)];
    await this.read(unique.filter((id) => !this.cached.has(id)));
    const found = new Map<string, StoredDocument>();
    for (const id of unique) {
      const document = this.cached.get(id);
      if (document !== undefined) found.set(id, document);
    }
    return found;
  }

  private async read(ids: readonly string[]): Promise<void> {
    if (ids.length === 0) return;
    const keys = ids.map((id) => ({ collection: this.collection, id: documentId(id) }));
    const documents = await this.snapshot.getMany(keys, this.fields);
    for (const [index, id] of ids.entries()) this.cached.set(id, documents[index]);
  }
}
