import { INSTANCE_MEMBERS } from '../../../shared/accounts/memberships.ts';
import { type JsonObject, parseObject, textAt, textsAt } from '../../../shared/json/jsonObject.ts';
import { sections } from '../../../shared/organisation/allSections.ts';
import { deletionGroups, deletionOf, describeContent } from '../../../shared/organisation/describedRecord.ts';
import { isInSection } from '../../../shared/organisation/sections/section.ts';
import { isInDeletion, userSection } from '../../../shared/organisation/sections/users.ts';
import type { FieldName } from '../../../shared/store/documentFields.ts';
import { type DocumentKey, documentPath, type Reader, type StoredDocument } from '../../../shared/store/store.ts';
import type { Deletion } from '../contract.ts';
import type { Deletions } from './deletions.ts';

export const describedFields: readonly FieldName[] = ['partition', 'orgId', 'body'];

export function describeRecord(stored: StoredDocument | undefined) {
  if (stored === undefined) return undefined;
  const { orgId = '' } = stored;
  const json = parseObject(stored.body);
  const section = isInDeletion(stored)
    ? userSection(json)
    : sections.find((candidate) => isInSection(stored.partition, candidate));
  return section && describeContent(section, json, orgId);
}

export interface ListedDeletion {
  readonly path: string;
  readonly deletion: Deletion;
}

export async function listDeletions(reader: Reader, deletions: Deletions, limit: number): Promise<ListedDeletion[]> {
  const listed: ListedDeletion[] = [];
  const list = async (batches: Iterable<readonly { readonly key: DocumentKey; readonly orgId: string }[]>) => {
    for (const batch of batches) {
      if (listed.length >= limit) return;
      const documents = await reader.getMany(
        batch.map(({ key }) => key),
        [...describedFields, 'ownerId'],
      );
      for (const [index, { key, orgId }] of batch.entries())
        for (const deletion of describeDeletion(documents[index], orgId))
          listed.push({ path: documentPath(key), deletion });
    }
  };
  for (const group of deletionGroups) await list(group === 'along' ? deletions.along() : deletions.ofGroup(group));
  return listed.slice(0, limit);
}

/** @param userOrgId the organisation of the user to whom the token or instance role belongs */
export function describeDeletion(stored: StoredDocument | undefined, userOrgId = ''): Deletion[] {
  if (stored === undefined) return [];
  const { id: tokenId, ownerId, partition, body } = stored;
  if (ownerId !== undefined) return [{ type: 'token', orgId: userOrgId, id: `${ownerId}_${tokenId}` }];
  const described =
    partition === INSTANCE_MEMBERS
      ? { type: 'instance_member', orgId: userOrgId, name: '', ...instanceRole(parseObject(body)) }
      : describeRecord(stored);
  if (described === undefined) return [];
  return [deletionOf(described)];
}

function instanceRole(json: JsonObject) {
  return { id: textAt(json, 'userId', ''), roles: textsAt(json, 'roles[]', '') };
}
