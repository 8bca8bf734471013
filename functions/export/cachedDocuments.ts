import type { FieldName } from '../../shared/store/documentFields.ts';
import { type Collection, documentId, type Snapshot, type StoredDocument } from '../../shared/store/store.ts';

/** Bounds the cache, which is cleared when it exceeds this size. */
const MAX_CACHED = 10_000;

/** A cache of facts about one collection's documents, by their ids. Many records of an export refer to the same few. */
export class CachedDocuments<Fact> {
  private readonly snapshot: Snapshot;
  private readonly collection: Collection;
  private readonly fields: readonly FieldName[];
  private readonly toFact: (document: StoredDocument) => Fact;
  /** Undefined for an id without a document. */
  private readonly cached = new Map<string, Fact | undefined>();

  /** @param toFact extracts from the document's `fields` what is cached; documents may be large */
  constructor(
    snapshot: Snapshot,
    collection: Collection,
    fields: readonly FieldName[],
    toFact: (document: StoredDocument) => Fact,
  ) {
    this.snapshot = snapshot;
    this.collection = collection;
    this.fields = fields;
    this.toFact = toFact;
  }

  /**
   * Finds the facts about documents, with one read for all that are not cached.
   * @returns those about existing documents, by id
   */
  async find(ids: Iterable<string>): Promise<ReadonlyMap<string, Fact>> {
    if (this.cached.size > MAX_CACHED) this.cached.clear();
    const unique = [...new Set(ids)];
    await this.read(unique.filter((id) => !this.cached.has(id)));
    const found = new Map<string, Fact>();
    for (const id of unique) {
      const fact = this.cached.get(id);
      if (fact !== undefined) found.set(id, fact);
    }
    return found;
  }

  private async read(ids: readonly string[]): Promise<void> {
    if (ids.length === 0) return;
    const keys = ids.map((id) => ({ collection: this.collection, id: documentId(id) }));
    const documents = await this.snapshot.getMany(keys, this.fields);
    for (const [index, id] of ids.entries()) {
      const document = documents[index];
      this.cached.set(id, document === undefined ? undefined : this.toFact(document));
    }
  }
}
