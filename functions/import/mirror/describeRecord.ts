import { parseObject, textAt, textsAt } from '../../../shared/json/jsonObject.ts';
import { sections } from '../../../shared/organisation/allSections.ts';
import { isInSection } from '../../../shared/organisation/section.ts';
import type { FieldName } from '../../../shared/store/documentFields.ts';
import type { Reader, StoredDocument } from '../../../shared/store/store.ts';
import type { Deletion } from '../contract.ts';
import type { Deletions } from './deletions.ts';

/** The fields by which reports name a stored record. */
export const describedFields: readonly FieldName[] = ['partition', 'orgId', 'body'];

/** Returns a stored record's type and id in reports, its name and roles; undefined for no record. */
export function describeRecord(stored: StoredDocument | undefined) {
  const section = sections.find((one) => isInSection(stored?.partition, one));
  if (stored === undefined || section === undefined) return undefined;
  const { orgId = '' } = stored;
  const json = parseObject(stored.body);
  const id = section.error.id.map((path) => textAt(json, path, orgId)).join('_');
  const name = textAt(json, section.unique?.[0]?.parts.at(-1) ?? '', orgId);
  const roles = ['roles[]', 'roleKeys[]', 'projectGrant.roleKeys[]'].flatMap((path) => textsAt(json, path, orgId));
  return { type: section.error.type, orgId, id, name, roles };
}

/** Lists the first of the records to delete: users, then members and grants, then the others. */
export async function listDeletions(reader: Reader, deletions: Deletions, limit: number): Promise<Deletion[]> {
  const listed: Deletion[] = [];
  for (const batch of deletions.listed()) {
    if (listed.length >= limit) break;
    const found = await reader.getMany(
      batch.map(({ key }) => key),
      describedFields,
    );
    for (const described of found.map(describeRecord)) {
      if (described === undefined) continue;
      const { type, orgId, id, name, roles } = described;
      listed.push({
        type,
        orgId,
        id,
        ...(name === '' ? {} : { name }),
        ...(roles.length === 0 ? {} : { roles }),
      });
    }
  }
  return listed.slice(0, limit);
}
