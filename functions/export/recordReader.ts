import { type Section, sectionPartition } from '../../shared/organisation/section.ts';
import { sections } from '../../shared/organisation/sections.ts';
import type { FieldName } from '../../shared/store/documentFields.ts';
import type { Snapshot, StoredDocument } from '../../shared/store/store.ts';
import { readAhead } from './readAhead.ts';
import { SectionCursor } from './sectionCursor.ts';

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

/**
 * Opens a reader with one query for each section. The organisations must be requested by ascending id, in the order of
 * `compareBytes`.
 * @param isRead selects sections; by default all that the content includes
 * @param from the first organisation that is requested, or an earlier id
 */
export function openMergedReader(
  snapshot: Snapshot,
  content: ExportContent,
  isRead: (section: Section) => boolean = () => true,
  from?: string,
): RecordReader {
  const cursors = exportedSections(content, isRead).map(
    (section) => new SectionCursor(snapshot, section, selectFields(section, content), from),
  );
  return {
    async *sections(orgId) {
      for (const cursor of cursors) {
        if (await cursor.moveTo(orgId)) yield { section: cursor.section, batches: cursor.records(orgId) };
      }
    },
    [Symbol.asyncDispose]: async () => void (await Promise.all(cursors.map((cursor) => cursor.close()))),
  };
}

/** Most of an organisation's sections are small, and each costs a round trip: this many are requested in advance. */
const SECTIONS_AHEAD = 8;

/**
 * Opens a reader with one query for each section of each organisation. The organisations may come in any order.
 * @param isRead selects sections; by default all that the content includes
 */
export function openSeparateReader(
  snapshot: Snapshot,
  content: ExportContent,
  isRead: (section: Section) => boolean = () => true,
): RecordReader {
  const exported = exportedSections(content, isRead).map((section) => ({
    section,
    fields: selectFields(section, content),
  }));
  return {
    async *sections(orgId) {
      const scans = exported.map(({ section, fields }) => () => {
        const partition = sectionPartition(orgId, section);
        return snapshot.scan({ collection: section.collection, partition, fields });
      });
      const remaining = exported.values();
      for await (const batches of readAhead(scans, SECTIONS_AHEAD)) {
        const { value } = remaining.next();
        if (value !== undefined) yield { section: value.section, batches };
      }
    },
    [Symbol.asyncDispose]: async () => {},
  };
}

function exportedSections({ withKeys }: ExportContent, isRead: (section: Section) => boolean): readonly Section[] {
  return sections.filter((section) => (section.keys !== true || withKeys) && isRead(section));
}

/** Selects credentials only if the request includes them. */
function selectFields(section: Section, content: ExportContent): readonly FieldName[] {
  const credentials = (section.credentials ?? []).filter(({ flag }) => content[flag]);
  const factor: FieldName[] = section.additional?.otpEmail === true && content.withOtp ? ['otpEmail'] : [];
  return ['orgId', 'body', 'digest', 'state', ...credentials.map(({ field }) => field), ...factor];
}
