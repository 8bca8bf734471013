import type { ExportedManifest, IgnoredField } from '../../shared/organisation/exportFile.ts';
import { LeftToDo } from '../../shared/organisation/leftToDo.ts';
import { sectionPartitions } from '../../shared/organisation/section.ts';
import { isInRemoval, organisationSection } from '../../shared/organisation/sections.ts';
import type { FieldName } from '../../shared/store/documentFields.ts';
import { documentId, type Snapshot, type StoredDocument } from '../../shared/store/store.ts';
import { CrossOrganisationRecords } from './crossOrganisationRecords.ts';
import { ExportedForm } from './exportedForm.ts';
import { OmittedOrganisations } from './omittedOrganisations.ts';
import type { OrganisationRange } from './organisationRanges.ts';
import { type ExportContent, openMergedReader, openSeparateReader } from './recordReader.ts';
import { RecordsInDeletion } from './recordsInDeletion.ts';
import { compareBytes } from './sectionCursor.ts';
import { type ExportOrigin, ExportWriter } from './writer.ts';

/** The organisations to export (specification 2.4): `orgIds`, or all if it is empty, without `excludedOrgIds`. */
export interface ExportSelection extends ExportContent {
  readonly orgIds: readonly string[];
  readonly excludedOrgIds: readonly string[];
  /** Whether the file has the form that a ZITADEL imports without loss (zitadel 4.6). */
  readonly forZitadel: boolean;
  /** The range of organisation ids to export, in their order by UTF-8 bytes; all by default. Not for `orgIds`. */
  readonly range?: OrganisationRange;
  /** The fields of the request that the service does not know, for the manifest. */
  readonly ignored?: readonly IgnoredField[];
}

/** An export in progress. Its manifest is complete once all bytes are read. */
export interface OrganisationExport {
  readonly manifest: ExportedManifest;
  readonly bytes: AsyncIterable<Uint8Array>;
}

const READ_BATCH = 500;
/** The most organisations that are cheaper to read one by one than by a scan of all. */
const MAX_SEPARATE = 1_000;
const organisationFields: readonly FieldName[] = ['orgId', 'partition', 'body', 'digest'];

/**
 * Exports organisations as an export file (specification 4.2, zitadel 2). The snapshot is read as the bytes are
 * consumed. Unknown ids are skipped, as ZITADEL does; the manifest counts the exported organisations.
 */
export function exportOrganisations(
  snapshot: Snapshot,
  selection: ExportSelection,
  origin: ExportOrigin,
  signal: AbortSignal,
): OrganisationExport {
  const { range } = selection;
  const ids = new Set(selection.orgIds);
  const separate = ids.size > 0 && ids.size <= MAX_SEPARATE;
  const leftToDo = new LeftToDo(selection);
  const excluded = new Set(selection.excludedOrgIds);
  const isExported = (orgId: string) => (ids.size === 0 || ids.has(orgId)) && !excluded.has(orgId);
  const isPartial = ids.size > 0 || excluded.size > 0;
  const writer = new ExportWriter({
    origin,
    readTime: snapshot.readTime,
    organisations: () =>
      exclude(separate ? readByIds(snapshot, [...ids]) : scanSelected(snapshot, ids, range), excluded),
    form: new ExportedForm(snapshot, leftToDo, selection.forZitadel),
    openReader: (isRead) =>
      separate
        ? openSeparateReader(snapshot, selection, isRead)
        : openMergedReader(snapshot, selection, isRead, range?.from),
    inDeletion: new RecordsInDeletion(snapshot),
    omitted: isPartial ? new OmittedOrganisations(snapshot, isExported, leftToDo) : undefined,
    crossOrganisation: selection.forZitadel ? new CrossOrganisationRecords(snapshot) : undefined,
    leftToDo,
    secrets: { passwords: selection.withPasswords, otp: selection.withOtp, keys: selection.withKeys },
    ignored: selection.ignored ?? [],
  });
  return {
    bytes: writer.chunks(signal),
    get manifest() {
      return writer.manifest;
    },
  };
}

async function* exclude(
  organisations: AsyncIterable<readonly StoredDocument[]>,
  excluded: ReadonlySet<string>,
): AsyncGenerator<readonly StoredDocument[]> {
  for await (const batch of organisations) yield batch.filter(({ orgId = '' }) => !excluded.has(orgId));
}

/**
 * Yields the organisations of a range in `ids`, or all if it is empty, by ascending id.
 * @throws Error when the database orders ids otherwise: the merged reader would skip records
 */
async function* scanSelected(
  snapshot: Snapshot,
  ids: ReadonlySet<string>,
  range?: OrganisationRange,
): AsyncGenerator<readonly StoredDocument[]> {
  const { collection } = organisationSection;
  const partitions = sectionPartitions(organisationSection, range?.from, range?.to);
  let last = '';
  for await (const batch of snapshot.scan({ collection, partitions, fields: organisationFields })) {
    for (const { orgId = '' } of batch) {
      if (compareBytes(last, orgId) > 0) throw new Error(`the organisation ${orgId} is out of order`);
      last = orgId;
    }
    yield ids.size === 0 ? batch : batch.filter(({ orgId = '' }) => ids.has(orgId));
  }
}

async function* readByIds(snapshot: Snapshot, orgIds: readonly string[]): AsyncGenerator<readonly StoredDocument[]> {
  for (let start = 0; start < orgIds.length; start += READ_BATCH) {
    const batch = orgIds.slice(start, start + READ_BATCH);
    const keys = batch.map((orgId) => ({ collection: organisationSection.collection, id: documentId(orgId) }));
    const documents = await snapshot.getMany(keys, organisationFields);
    yield documents.filter((document) => document !== undefined).filter((document) => !isInRemoval(document));
  }
}
