import { type Section, sectionPartitions } from '../../shared/organisation/section.ts';
import type { FieldName } from '../../shared/store/documentFields.ts';
import type { Snapshot, StoredDocument } from '../../shared/store/store.ts';

type Batches = AsyncIterator<readonly StoredDocument[]>;

/** Above this many skipped records, a new query costs less than to read on. */
const MAX_SKIPPED = 500;

/** A cursor over one section's records of all organisations, in the order of the organisations' ids. */
export class SectionCursor {
  readonly section: Section;
  private readonly open: (orgId?: string) => Batches;
  private batches: Batches;
  /** The first batch, requested in advance. */
  private requested: ReturnType<Batches['next']> | undefined;
  private documents: readonly StoredDocument[] = [];
  private index = 0;

  /** @param from the id of the organisation to start at; by default the first */
  constructor(snapshot: Snapshot, section: Section, fields: readonly FieldName[], from?: string) {
    const { collection } = section;
    this.section = section;
    this.open = (orgId) =>
      snapshot.scan({ collection, partitions: sectionPartitions(section, orgId), fields })[Symbol.asyncIterator]();
    this.batches = this.open(from);
    this.requested = this.batches.next();
    // A failed read is reported by the next move; until then this handler prevents an unhandled rejection.
    this.requested.catch(() => undefined);
  }

  /**
   * Skips the records of earlier organisations, which are excluded or missing.
   * @returns whether the organisation has records
   */
  async moveTo(orgId: string): Promise<boolean> {
    for (let skipped = 0; ; skipped++, this.index++) {
      if (this.isAtEnd() && skipped >= MAX_SKIPPED) {
        await this.reopen(orgId);
        skipped = 0;
      }
      const document = await this.current();
      if (document === undefined) return false;
      const order = compareBytes(document.orgId ?? '', orgId);
      if (order >= 0) return order === 0;
    }
  }

  /** Yields the remaining records of the organisation that the cursor was moved to. */
  async *records(orgId: string): AsyncGenerator<readonly StoredDocument[]> {
    while ((await this.current())?.orgId === orgId) {
      const rest = this.documents.slice(this.index);
      const length =
        rest.at(-1)?.orgId === orgId ? rest.length : rest.findIndex((document) => document.orgId !== orgId);
      this.index += length;
      yield rest.slice(0, length);
    }
  }

  /** Stops reading. */
  async close(): Promise<void> {
    await this.requested?.catch(() => undefined);
    await this.batches.return?.();
  }

  private async reopen(orgId: string): Promise<void> {
    await this.batches.return?.();
    this.batches = this.open(orgId);
  }

  private isAtEnd(): boolean {
    return this.index >= this.documents.length;
  }

  private async current(): Promise<StoredDocument | undefined> {
    while (this.isAtEnd()) {
      const { done, value } = await (this.requested ?? this.batches.next());
      this.requested = undefined;
      if (done === true) return undefined;
      this.documents = value;
      this.index = 0;
    }
    return this.documents[this.index];
  }
}

/** Compares texts by their UTF-8 bytes, as databases do; JavaScript compares UTF-16 units. */
export function compareBytes(a: string, b: string): number {
  return a === b ? 0 : Buffer.compare(Buffer.from(a), Buffer.from(b));
}
