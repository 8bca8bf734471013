import type { Manifest } from '../../shared/organisation/exportFile.ts';
import type { Section } from '../../shared/organisation/section.ts';
import { organisationSection } from '../../shared/organisation/sections.ts';
import type { FieldName } from '../../shared/store/documentFields.ts';
import { documentId, type Snapshot, type StoredDocument } from '../../shared/store/store.ts';
import { type ExportContent, ExportWriter } from './writer.ts';

/** The organisations to export (specification 2.4): `orgIds`, or all if it is empty, without `excludedOrgIds`. */
export interface ExportSelection extends ExportContent {
  readonly orgIds: readonly string[];
  readonly excludedOrgIds: readonly string[];
}

/** An export in progress. Its manifest is complete once all bytes are read. */
export interface OrganisationExport {
  readonly manifest: Manifest;
  readonly bytes: AsyncIterable<Uint8Array>;
}

const READ_BATCH = 500;
const organisationFields: readonly FieldName[] = ['orgId', 'body', 'digest'];

/**
 * Exports organisations as an export file (specification 4.2, zitadel 2). The snapshot is read as the bytes are
 * consumed. Unknown ids are skipped, as ZITADEL does; the manifest counts the exported organisations.
 * @param instance the instance's name, for the manifest
 */
export function exportOrganisations(
  snapshot: Snapshot,
  selection: ExportSelection,
  instance: string,
  signal: AbortSignal,
): OrganisationExport {
  const writer = new ExportWriter(snapshot, selection, instance);
  return {
    bytes: writer.chunks(readSelected(snapshot, selection), signal),
    get manifest() {
      return writer.manifest;
    },
  };
}

async function* readSelected(
  snapshot: Snapshot,
  { orgIds, excludedOrgIds }: ExportSelection,
): AsyncGenerator<readonly StoredDocument[]> {
  const excluded = new Set(excludedOrgIds);
  const documents =
    orgIds.length === 0 ? scanAll(snapshot, organisationSection) : readByIds(snapshot, [...new Set(orgIds)]);
  for await (const batch of documents) yield batch.filter(({ orgId = '' }) => !excluded.has(orgId));
}

function scanAll(snapshot: Snapshot, { collection }: Section): AsyncIterable<readonly StoredDocument[]> {
  return snapshot.scan({ collection, fields: organisationFields });
}

async function* readByIds(snapshot: Snapshot, orgIds: readonly string[]): AsyncGenerator<readonly StoredDocument[]> {
  for (let start = 0; start < orgIds.length; start += READ_BATCH) {
    const batch = orgIds.slice(start, start + READ_BATCH);
    const keys = batch.map((orgId) => ({ collection: organisationSection.collection, id: documentId(orgId) }));
    const documents = await snapshot.getMany(keys, organisationFields);
    yield documents.filter((document) => document !== undefined);
  }
}
