import { withoutEmpty } from '../defined.ts';
import { type JsonObject, textAt, textsAt } from '../json/jsonObject.ts';
import type { Collection } from '../store/store.ts';
import type { Section } from './sections/section.ts';

export function describeContent(section: Section, json: JsonObject, orgId: string) {
  const id = section.error.id.map((path) => textAt(json, path, orgId)).join('_');
  const name = textAt(json, section.unique?.[0]?.parts.at(-1) ?? '', orgId);
  const roles = ['roles[]', 'roleKeys[]', 'projectGrant.roleKeys[]'].flatMap((path) => textsAt(json, path, orgId));
  return { type: section.error.type, orgId, id, name, roles };
}

/** Converts the description of a deleted record to the form in which an import's response lists the record. */
export function deletionOf({ type, orgId, id, name, roles }: ReturnType<typeof describeContent>) {
  return { type, orgId, id, ...withoutEmpty({ name, roles }) };
}

/**
 * The groups in which reports list deleted records, in the order of the reports. `along` contains the records that were
 * deleted together with a user. `permissions` contains grants and memberships.
 */
export const deletionGroups = ['users', 'along', 'permissions', 'others'] as const;

export type DeletionGroup = Exclude<(typeof deletionGroups)[number], 'along'>;

const permissions: ReadonlySet<Collection> = new Set(['members', 'userGrants', 'projectGrants']);

export function deletionGroup(collection: Collection): DeletionGroup {
  if (collection === 'users') return 'users';
  return permissions.has(collection) ? 'permissions' : 'others';
}
