import type { Section } from '../../shared/organisation/sections/section.ts';
import type { StoredDocument } from '../../shared/store/store.ts';
import { compareBytes } from './selectedOrganisations.ts';

type Documents = readonly StoredDocument[];

/**
 * What the export writes next: the start of an organisation, a batch of the organisation's records of one section, or
 * the end of the organisation. Events have the order of the file. A section without records has no event.
 */
export type ExportEvent =
  | { readonly kind: 'organisation'; readonly document: StoredDocument }
  | { readonly kind: 'records'; readonly section: Section; readonly documents: Documents }
  | { readonly kind: 'end' };

/** The records of one section in batches, in the order of the organisations' ids. */
export interface SectionScan {
  readonly section: Section;
  readonly batches: AsyncIterable<Documents>;
}

/**
 * Merges organisations with their records, which come from one scan for each section. Yields the events in arrays,
 * because awaiting each event costs more than writing it. An array may be empty.
 * @throws Error if the organisations are not in the order of `compareBytes`: the merge would skip records
 */
export async function* mergeByOrganisation(
  organisations: AsyncIterable<Documents>,
  scans: readonly SectionScan[],
): AsyncGenerator<readonly ExportEvent[]> {
  const cursors = scans.map((scan) => new Cursor(scan));
  let events: ExportEvent[] = [];
  let last = '';
  try {
    for await (const batch of organisations) {
      for (const document of batch) {
        const { orgId = '' } = document;
        if (compareBytes(last, orgId) > 0) throw new Error(`the organisation ${orgId} is out of order`);
        last = orgId;
        events.push({ kind: 'organisation', document });
        for (const cursor of cursors) {
          for (;;) {
            const documents = cursor.take(orgId);
            if (documents.length > 0) events.push({ kind: 'records', section: cursor.section, documents });
            if (!cursor.isDrained) break;
            yield events;
            events = [];
            await cursor.refill();
          }
        }
        events.push({ kind: 'end' });
      }
      yield events;
      events = [];
    }
  } finally {
    await Promise.all(cursors.map((cursor) => cursor.close()));
  }
}

/**
 * The position of the merge in the scan of one section. The cursor requests each batch of records before the merge
 * needs that batch.
 */
class Cursor {
  readonly section: Section;
  private readonly batches: AsyncIterator<Documents>;
  private documents: Documents = [];
  private index = 0;
  private isEnded = false;
  private requested: Promise<IteratorResult<Documents>>;

  constructor({ section, batches }: SectionScan) {
    this.section = section;
    this.batches = batches[Symbol.asyncIterator]();
    this.requested = this.request();
  }

  get isDrained(): boolean {
    return this.index === this.documents.length && !this.isEnded;
  }

  /**
   * Returns the organisation's next records in the batch. Skips records of organisations with smaller ids, because the
   * snapshot does not contain these organisations.
   */
  take(orgId: string): Documents {
    while (compareBytes(this.documents[this.index]?.orgId ?? orgId, orgId) < 0) this.index++;
    const start = this.index;
    while (this.documents[this.index]?.orgId === orgId) this.index++;
    const isWholeBatch = start === 0 && this.index === this.documents.length;
    return isWholeBatch ? this.documents : this.documents.slice(start, this.index);
  }

  async refill(): Promise<void> {
    const { done, value } = await this.requested;
    this.isEnded = done === true;
    if (done === true) return;
    [this.documents, this.index] = [value, 0];
    this.requested = this.request();
  }

  async close(): Promise<void> {
    await this.batches.return?.();
  }

  private request(): Promise<IteratorResult<Documents>> {
    const requested = this.batches.next();
    // `refill` awaits this promise later, and throws the error of a failed read. Until then, this handler prevents an
    // unhandled rejection.
    requested.catch(() => undefined);
    return requested;
  }
}
