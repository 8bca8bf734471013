import { isInRemoval, organisationSection } from '../../shared/organisation/allSections.ts';
import { type Section, sectionPartition, sectionPartitions } from '../../shared/organisation/sections/section.ts';
import type { FieldName } from '../../shared/store/documentFields.ts';
import { documentId, READ_BATCH, type Snapshot, type StoredDocument } from '../../shared/store/store.ts';

/**
 * The organisations to export (specification 2.4): `orgIds`, or all organisations if `orgIds` is empty, except
 * `excludedOrgIds`.
 */
export interface OrganisationSelection {
  readonly orgIds: readonly string[];
  readonly excludedOrgIds: readonly string[];
}

type Batches = AsyncGenerator<readonly StoredDocument[]>;

/** Reads the selected organisations of a snapshot and their records, both in the order of `compareBytes`. */
export interface SelectedOrganisations {
  readonly organisations: () => Batches;
  /**
   * Reads a section's records of the selected organisations. May also yield records of organisations that do not exist.
   */
  readonly scan: (section: Section, fields: readonly FieldName[]) => Batches;
}

/**
 * If at most this number of organisations is selected, reading each of them separately is cheaper than a scan of all
 * records.
 */
const MAX_SEPARATE = 1_000;
const { collection } = organisationSection;
const organisationRowFields: readonly FieldName[] = ['orgId', 'partition', 'body', 'digest', 'importedFrom'];

/**
 * Returns a function that checks by id whether an organisation is selected; undefined if all organisations are
 * selected.
 */
export function selector({ orgIds, excludedOrgIds }: OrganisationSelection): ((orgId: string) => boolean) | undefined {
  const ids = new Set(orgIds);
  const excluded = new Set(excludedOrgIds);
  if (ids.size + excluded.size === 0) return undefined;
  return (orgId) => (ids.size === 0 || ids.has(orgId)) && !excluded.has(orgId);
}

/** Finds the selected organisations. Skips unknown ids, as ZITADEL does. */
export async function selectOrganisations(
  snapshot: Snapshot,
  selection: OrganisationSelection,
): Promise<SelectedOrganisations> {
  const isSelected = selector(selection);
  const ids = [...new Set(selection.orgIds)];
  if (isSelected === undefined || ids.length === 0 || ids.length > MAX_SEPARATE)
    return {
      organisations: () => scanAll(snapshot, isSelected, organisationSection, organisationRowFields),
      scan: (section, fields) => scanAll(snapshot, isSelected, section, fields),
    };
  const selectedOrganisations = await readByIds(snapshot, ids.filter(isSelected).sort(compareBytes));
  return {
    async *organisations() {
      yield selectedOrganisations;
    },
    scan: (section, fields) => scanEach(snapshot, selectedOrganisations, section, fields),
  };
}

/** After this number of unselected records in a row, a new query is cheaper than reading further. */
const MAX_SKIPPED = 500;

/**
 * Scans the records of all organisations, and yields those of the selected organisations. To skip an unselected
 * organisation with many records, starts a new query after this organisation.
 */
async function* scanAll(
  snapshot: Snapshot,
  isSelected: ((orgId: string) => boolean) | undefined,
  section: Section,
  fields: readonly FieldName[],
): Batches {
  for (let from: string | undefined = ''; from !== undefined; ) {
    const partitions = sectionPartitions(section, from);
    from = undefined;
    let skipped = 0;
    for await (const batch of snapshot.scan({ collection: section.collection, partitions, fields })) {
      const selected = isSelected === undefined ? batch : batch.filter(({ orgId = '' }) => isSelected(orgId));
      yield selected;
      skipped = selected.length === 0 ? skipped + batch.length : 0;
      if (skipped < MAX_SKIPPED) continue;
      from = `${batch.at(-1)?.orgId}\0`;
      break;
    }
  }
}

async function* scanEach(
  snapshot: Snapshot,
  organisations: readonly StoredDocument[],
  section: Section,
  fields: readonly FieldName[],
): Batches {
  for (const { orgId = '' } of organisations)
    yield* snapshot.scan({ collection: section.collection, partition: sectionPartition(orgId, section), fields });
}

async function readByIds(snapshot: Snapshot, orgIds: readonly string[]): Promise<readonly StoredDocument[]> {
  const organisations: StoredDocument[] = [];
  for (let start = 0; start < orgIds.length; start += READ_BATCH) {
    const keys = orgIds.slice(start, start + READ_BATCH).map((orgId) => ({ collection, id: documentId(orgId) }));
    const documents = await snapshot.getMany(keys, organisationRowFields);
    organisations.push(...documents.filter((document) => document !== undefined));
  }
  return organisations.filter((document) => !isInRemoval(document));
}

/** Compares texts by their UTF-8 bytes, as databases do; JavaScript compares UTF-16 units. */
export function compareBytes(a: string, b: string): number {
  return a === b ? 0 : Buffer.compare(Buffer.from(a), Buffer.from(b));
}
