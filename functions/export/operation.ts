import type { Manifest } from '../../shared/organisation/exportFile.ts';
import type { Section } from '../../shared/organisation/section.ts';
import { organisationSection } from '../../shared/organisation/sections.ts';
import type { FieldName } from '../../shared/store/documentFields.ts';
import { documentId, type Snapshot, type StoredDocument } from '../../shared/store/store.ts';
import { type ExportContent, ExportWriter } from './writer.ts';

/**
 * Which organisations to export (specification 2.4): those of `orgIds`, or all when it is empty, without
 * `excludedOrgIds`.
 */
export interface ExportSelection extends ExportContent {
  readonly orgIds: readonly string[];
  readonly excludedOrgIds: readonly string[];
}

/** An export that can be read; its manifest is complete when its bytes have been. */
export interface OrganisationExport {
  readonly manifest: Manifest;
  readonly bytes: AsyncIterable<Uint8Array>;
}

const ORGANISATIONS_AT_ONCE = 500;
const organisationFields: readonly FieldName[] = ['orgId', 'body', 'digest'];

/**
 * Exports organisations as the organisation document (specification 4.2, zitadel 2) from a snapshot, read while it is
 * consumed. Unknown ids are passed over, as ZITADEL does; the manifest says how many organisations there are.
 * @param instance the name of this instance, for the manifest
 */
export function exportOrganisations(
  snapshot: Snapshot,
  selection: ExportSelection,
  instance: string,
  signal: AbortSignal,
): OrganisationExport {
  const writer = new ExportWriter(snapshot, selection, instance);
  return {
    bytes: writer.chunks(selected(snapshot, selection), signal),
    get manifest() {
      return writer.manifest;
    },
  };
}

async function* selected(
  snapshot: Snapshot,
  { orgIds, excludedOrgIds }: ExportSelection,
): AsyncGenerator<readonly StoredDocument[]> {
  const excluded = new Set(excludedOrgIds);
  const documents = orgIds.length === 0 ? all(snapshot, organisationSection) : named(snapshot, [...new Set(orgIds)]);
  for await (const part of documents) yield part.filter(({ orgId = '' }) => !excluded.has(orgId));
}

function all(snapshot: Snapshot, { collection }: Section): AsyncIterable<readonly StoredDocument[]> {
  return snapshot.scan({ collection, fields: organisationFields });
}

async function* named(snapshot: Snapshot, orgIds: readonly string[]): AsyncGenerator<readonly StoredDocument[]> {
  for (let at = 0; at < orgIds.length; at += ORGANISATIONS_AT_ONCE) {
    const part = orgIds.slice(at, at + ORGANISATIONS_AT_ONCE);
    const keys = part.map((orgId) => ({ collection: organisationSection.collection, id: documentId(orgId) }));
    const documents = await snapshot.getMany(keys, organisationFields);
    yield documents.filter((document) => document !== undefined);
  }
}
