// Readers of the stored records that an export contains, by organisation and section.

import {
  mayHaveOtpEmail,
  type Section,
  sectionPartition,
  sectionPartitions,
} from '../../shared/organisation/section.ts';
import { sections } from '../../shared/organisation/sections.ts';
import type { FieldName } from '../../shared/store/documentFields.ts';
import type { Snapshot, StoredDocument } from '../../shared/store/store.ts';
import { compareBytes } from './selection.ts';

/** The optional content of an export (specification 2.4). */
export interface ExportContent {
  readonly withPasswords: boolean;
  readonly withOtp: boolean;
  readonly withKeys: boolean;
}

/** An organisation's records of one section. */
export interface SectionRecords {
  readonly section: Section;
  readonly batches: AsyncIterable<readonly StoredDocument[]>;
}

/** A reader of the exported records of one snapshot, organisation by organisation. */
export interface RecordReader extends AsyncDisposable {
  /** Yields an organisation's sections in the order of the export file. Sections without records may be absent. */
  sections(orgId: string): AsyncIterable<SectionRecords>;
}

/** Selects the sections that a reader reads, of those that the content includes. */
export type SectionFilter = (section: Section) => boolean;

/**
 * Opens a reader with one query for each section. The organisations must be requested by ascending id, in the order of
 * `compareBytes`.
 */
export function openMergedReader(snapshot: Snapshot, content: ExportContent, isRead: SectionFilter): RecordReader {
  const cursors = exportedSections(content, isRead).map((exported) => new SectionCursor(snapshot, exported));
  return {
    async *sections(orgId) {
      for (const cursor of cursors) {
        // Most sections have no records of an organisation. To await the finding costs more than to read a small one.
        if (cursor.isBehind(orgId)) continue;
        if (await cursor.moveTo(orgId)) yield { section: cursor.section, batches: cursor.records(orgId) };
      }
    },
    [Symbol.asyncDispose]: async () => void (await Promise.all(cursors.map((cursor) => cursor.close()))),
  };
}

/** Most of an organisation's sections are small, and each costs a round trip: this many are requested in advance. */
const SECTIONS_AHEAD = 8;

/** Opens a reader with one query for each section of each organisation. The organisations may come in any order. */
export function openSeparateReader(snapshot: Snapshot, content: ExportContent, isRead: SectionFilter): RecordReader {
  const exported = exportedSections(content, isRead);
  return {
    async *sections(orgId) {
      const ahead: { section: Section; batches: Batches }[] = [];
      try {
        for (let index = 0; index < exported.length; index++) {
          for (const { section, fields } of exported.slice(index + ahead.length, index + SECTIONS_AHEAD)) {
            const partition = sectionPartition(orgId, section);
            const scan = snapshot.scan({ collection: section.collection, partition, fields });
            ahead.push({ section, batches: requestFirst(scan) });
          }
          const next = ahead.shift();
          if (next !== undefined) yield next;
        }
      } finally {
        await Promise.all(ahead.map(({ batches }) => batches.return()));
      }
    },
    [Symbol.asyncDispose]: async () => {},
  };
}

interface ExportedSection {
  readonly section: Section;
  readonly fields: readonly FieldName[];
}

function exportedSections(content: ExportContent, isRead: SectionFilter): readonly ExportedSection[] {
  return sections
    .filter((section) => (section.keys !== true || content.withKeys) && isRead(section))
    .map((section) => ({ section, fields: selectFields(section, content) }));
}

/** Selects credentials only if the request includes them. */
function selectFields(section: Section, content: ExportContent): readonly FieldName[] {
  const credentials = (section.credentials ?? []).filter(({ flag }) => content[flag]);
  const factor: FieldName[] = mayHaveOtpEmail(section) && content.withOtp ? ['otpEmail'] : [];
  return ['orgId', 'body', 'digest', 'state', ...credentials.map(({ field }) => field), ...factor];
}

interface Batches extends AsyncIterableIterator<readonly StoredDocument[]> {
  return(): Promise<IteratorResult<readonly StoredDocument[]>>;
}

/** Requests the first batch at once, so that many small reads share one round trip. */
function requestFirst(scan: AsyncIterable<readonly StoredDocument[]>): Batches {
  const iterator = scan[Symbol.asyncIterator]();
  let first: ReturnType<typeof iterator.next> | undefined = iterator.next();
  // A failed read is reported in its turn; until then this handler prevents an unhandled rejection.
  first.catch(() => undefined);
  return {
    next() {
      const result = first ?? iterator.next();
      first = undefined;
      return result;
    },
    async return() {
      await first?.catch(() => undefined);
      await iterator.return?.();
      return { done: true, value: undefined };
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}

/** Above this many skipped records, a new query costs less than to read on. */
const MAX_SKIPPED = 500;

/** A cursor over one section's records of all organisations, in the order of the organisations' ids. */
class SectionCursor {
  readonly section: Section;
  private readonly open: (orgId: string) => Batches;
  private batches: Batches;
  private documents: readonly StoredDocument[] = [];
  private index = 0;
  private isEnded = false;

  constructor(snapshot: Snapshot, { section, fields }: ExportedSection) {
    const { collection } = section;
    this.section = section;
    this.open = (orgId) =>
      requestFirst(snapshot.scan({ collection, partitions: sectionPartitions(section, orgId), fields }));
    this.batches = this.open('');
  }

  /** Whether the cursor is known to be behind an organisation, which therefore has no more records. */
  isBehind(orgId: string): boolean {
    const document = this.documents[this.index];
    return this.isEnded || (document !== undefined && compareBytes(document.orgId ?? '', orgId) > 0);
  }

  /**
   * Skips the records of earlier organisations, which are excluded or missing.
   * @returns whether the organisation has records
   */
  async moveTo(orgId: string): Promise<boolean> {
    for (let skipped = 0; ; skipped++, this.index++) {
      if (this.isAtEnd() && skipped >= MAX_SKIPPED) {
        await this.close();
        this.batches = this.open(orgId);
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

  async close(): Promise<void> {
    await this.batches.return();
  }

  private isAtEnd(): boolean {
    return this.index >= this.documents.length;
  }

  private async current(): Promise<StoredDocument | undefined> {
    while (this.isAtEnd()) {
      const { done, value } = await this.batches.next();
      if (done === true) {
        this.isEnded = true;
        return undefined;
      }
      this.documents = value;
      this.index = 0;
    }
    return this.documents[this.index];
  }
}
