// The organisations that an export selects, read from a snapshot.

import { sectionPartitions } from '../../shared/organisation/section.ts';
import { isInRemoval, organisationSection } from '../../shared/organisation/sections.ts';
import type { FieldName } from '../../shared/store/documentFields.ts';
import { documentId, READ_BATCH, type Snapshot, type StoredDocument } from '../../shared/store/store.ts';

/** The organisations to export (specification 2.4): `orgIds`, or all if it is empty, without `excludedOrgIds`. */
export interface OrganisationSelection {
  readonly orgIds: readonly string[];
  readonly excludedOrgIds: readonly string[];
}

/** The most organisations that are cheaper to read one by one than by a scan of all. */
const MAX_SEPARATE = 1_000;
const { collection } = organisationSection;
const organisationRowFields: readonly FieldName[] = ['orgId', 'partition', 'body', 'digest', 'importedFrom'];

/** Whether the selected organisations are read one by one; else all are scanned. */
export function isReadSeparately({ orgIds }: OrganisationSelection): boolean {
  const { size } = new Set(orgIds);
  return size > 0 && size <= MAX_SEPARATE;
}

/** Returns whether an organisation, by its id, is selected; undefined where all are. */
export function selector({ orgIds, excludedOrgIds }: OrganisationSelection): ((orgId: string) => boolean) | undefined {
  const ids = new Set(orgIds);
  const excluded = new Set(excludedOrgIds);
  if (ids.size + excluded.size === 0) return undefined;
  return (orgId) => (ids.size === 0 || ids.has(orgId)) && !excluded.has(orgId);
}

/** Yields the selected organisations by ascending id. Unknown ids are skipped, as ZITADEL does. */
export function readOrganisations(
  snapshot: Snapshot,
  selection: OrganisationSelection,
): AsyncGenerator<readonly StoredDocument[]> {
  const isSelected = selector(selection) ?? (() => true);
  if (!isReadSeparately(selection)) return scanSelected(snapshot, isSelected);
  const orgIds = [...new Set(selection.orgIds)].filter((orgId) => isSelected(orgId));
  return readByIds(snapshot, orgIds.sort(compareBytes));
}

/** @throws Error when the database orders ids otherwise: the merged reader would skip records */
async function* scanSelected(
  snapshot: Snapshot,
  isSelected: (orgId: string) => boolean,
): AsyncGenerator<readonly StoredDocument[]> {
  const partitions = sectionPartitions(organisationSection);
  let last = '';
  for await (const batch of snapshot.scan({ collection, partitions, fields: organisationRowFields })) {
    for (const { orgId = '' } of batch) {
      if (compareBytes(last, orgId) > 0) throw new Error(`the organisation ${orgId} is out of order`);
      last = orgId;
    }
    yield batch.filter(({ orgId = '' }) => isSelected(orgId));
  }
}

async function* readByIds(snapshot: Snapshot, orgIds: readonly string[]): AsyncGenerator<readonly StoredDocument[]> {
  for (let start = 0; start < orgIds.length; start += READ_BATCH) {
    const keys = orgIds.slice(start, start + READ_BATCH).map((orgId) => ({ collection, id: documentId(orgId) }));
    const documents = await snapshot.getMany(keys, organisationRowFields);
    yield documents.filter((document) => document !== undefined).filter((document) => !isInRemoval(document));
  }
}

/** Compares texts by their UTF-8 bytes, as databases do; JavaScript compares UTF-16 units. */
export function compareBytes(a: string, b: string): number {
  return a === b ? 0 : Buffer.compare(Buffer.from(a), Buffer.from(b));
}
