// Records as reports describe them.

import { withoutEmpty } from '../defined.ts';
import { type JsonObject, textAt, textsAt } from '../json/jsonObject.ts';
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
