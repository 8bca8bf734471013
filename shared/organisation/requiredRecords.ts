// Finds records that cannot exist without a user, or without records of other organisations.

import { parseObject, textsAt } from '../json/jsonObject.ts';
import {
  type DocumentKey,
  documentId,
  documentPath,
  type Reader,
  readByPath,
  type StoredDocument,
} from '../store/store.ts';
import { sections } from './allSections.ts';
import type { Reference } from './relations.ts';
import { isInSection, type Section } from './sections/section.ts';
import { targetParts } from './sections/sharedReferences.ts';

export interface SectionRecord {
  readonly section: Section;
  readonly stored: StoredDocument;
}

/** True if a record with this reference cannot exist without the target of the reference. */
export function isRequired({ keptIfMissing }: Reference): boolean {
  return keptIfMissing === undefined;
}

export function isRequiredUser(reference: Reference): boolean {
  return reference.collection === 'users' && isRequired(reference);
}

/** True if a record with this reference cannot exist without the target, which may belong to another organisation. */
function mayBeForeign(reference: Reference): boolean {
  const { ifForeign, permittedBy, openTo } = reference;
  return isRequired(reference) && (ifForeign === undefined || permittedBy !== undefined || openTo !== undefined);
}

/**
 * The sections with records that cannot exist without certain records of other organisations. If records of section A
 * need records of section B, A comes before B.
 */
export const foreignSections: readonly Section[] = sections
  .filter(({ references = [] }) => references.some(mayBeForeign))
  .sort((a, b) => b.phase - a.phase);

const foreignCollections = new Set(foreignSections.map(({ collection }) => collection));

export function requiresUser({ section, stored }: SectionRecord, userIds: Pick<ReadonlySet<string>, 'has'>): boolean {
  const references = section.references?.filter(isRequiredUser) ?? [];
  if (references.length === 0) return false;
  const json = parseObject(stored.body);
  const named = (path: string) => textsAt(json, path, stored.orgId ?? '');
  return references.some(({ key }) => key.flatMap(named).some((id) => userIds.has(id)));
}

/**
 * Selects those of `records` that must be deleted together with the organisations in `orgIds`. A record is selected if
 * it cannot exist without a record of these organisations. It may need that record directly, or need another record
 * that needs it.
 */
export async function selectDependents<Selected extends SectionRecord>(
  reader: Pick<Reader, 'getMany'>,
  orgIds: ReadonlySet<string>,
  records: readonly Selected[],
): Promise<readonly Selected[]> {
  const required = records.map(foreignKeys);
  const gone = await findGone(reader, orgIds, required.flat());
  return records.filter((_, index) => required[index]?.some((key) => gone.has(documentPath(key))));
}

/**
 * Finds which of the records with the keys in `keys` a deletion of the organisations would delete, and returns their
 * paths. These records belong to the organisations, or cannot exist without such a record.
 */
async function findGone(
  reader: Pick<Reader, 'getMany'>,
  orgIds: ReadonlySet<string>,
  keys: readonly DocumentKey[],
): Promise<ReadonlySet<string>> {
  const owners = await readByPath(reader, keys, ['orgId']);
  const isOwn = (key: DocumentKey) => orgIds.has(owners.get(documentPath(key))?.orgId ?? '');
  const foreign = keys.filter((key) => !isOwn(key) && foreignCollections.has(key.collection));
  const stored = await readByPath(reader, foreign, ['orgId', 'partition', 'body']);
  const records = [...stored].flatMap(([path, document]) =>
    withSection(document).map((record) => ({ ...record, path })),
  );
  const dependents = records.length === 0 ? [] : await selectDependents(reader, orgIds, records);
  return new Set([...keys.filter(isOwn).map(documentPath), ...dependents.map(({ path }) => path)]);
}

/**
 * Returns a document together with its section. Returns an empty list if the document is absent, or if its section is
 * not in `foreignSections`.
 */
export function withSection(stored: StoredDocument | undefined): SectionRecord[] {
  const section = foreignSections.find((candidate) => isInSection(stored?.partition, candidate));
  return section === undefined || stored === undefined ? [] : [{ section, stored }];
}

function foreignKeys({ section: { references = [] }, stored: { body, orgId = '' } }: SectionRecord): DocumentKey[] {
  const json = parseObject(body);
  return references.filter(mayBeForeign).flatMap((reference) => {
    const { collection } = reference;
    const targets = targetParts(reference, (path) => textsAt(json, path, orgId));
    return targets.map((parts) => ({ collection, id: documentId(...parts) }));
  });
}
