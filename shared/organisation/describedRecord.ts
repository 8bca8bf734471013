// Records as reports describe them.

import { withoutEmpty } from '../defined.ts';
import { type JsonObject, textAt, textsAt } from '../json/jsonObject.ts';
import type { Collection } from '../store/store.ts';
import type { Section } from './sections/section.ts';

/** Returns a record's type and id as reports show them, its name and its roles. */
export function describeContent(section: Section, json: JsonObject, orgId: string) {
  const id = section.error.id.map((path) => textAt(json, path, orgId)).join('_');
  const name = textAt(json, section.unique?.[0]?.parts.at(-1) ?? '', orgId);
  const roles = ['roles[]', 'roleKeys[]', 'projectGrant.roleKeys[]'].flatMap((path) => textsAt(json, path, orgId));
  return { type: section.error.type, orgId, id, name, roles };
}

/** Returns a deletion in the form of the response. */
export function deletionOf({ type, orgId, id, name, roles }: ReturnType<typeof describeContent>) {
  return { type, orgId, id, ...withoutEmpty({ name, roles }) };
}

/**
 * The groups of a list of deletions, in their order: users, what is deleted along with them, grants and memberships, and
 * all other records.
 */
export const deletionGroups = ['users', 'along', 'permissions', 'others'] as const;

/** A group of a list of deletions that contains records. */
export type DeletionGroup = Exclude<(typeof deletionGroups)[number], 'along'>;

const permissions: ReadonlySet<Collection> = new Set(['members', 'userGrants', 'projectGrants']);

/** Returns the group of a collection's records in a list of deletions. */
export function deletionGroup(collection: Collection): DeletionGroup {
  if (collection === 'users') return 'users';
  return permissions.has(collection) ? 'permissions' : 'others';
}
