import { type RecordWarning, warn } from '../errors/warnings.ts';
import { type JsonObject, textAt, textsAt, valueAt } from '../json/jsonObject.ts';
import { type DocumentKey, documentId } from '../store/store.ts';
import type { OrganisationRecord } from './record.ts';
import { reportedId } from './recordPlan.ts';
import type { GivenPrivilege } from './sections/section.ts';

/** The roles that a record gives to a user, or the domains that it gives to an organisation. */
export interface Gift {
  readonly given: GivenPrivilege;
  readonly texts: readonly string[];
  /** The organisation or project to which the privilege applies. */
  readonly target: DocumentKey;
}

export function giftOf({ section, json, orgId }: OrganisationRecord): Gift | undefined {
  const privilege = section.privilege;
  if (privilege === undefined) return undefined;
  const texts = givenTexts(privilege, json, orgId);
  const { collection, key } = privilege.within;
  const id = documentId(...key.map((path) => textAt(json, path, orgId)));
  return texts.length === 0 ? undefined : { given: privilege, texts, target: { collection, id } };
}

function givenTexts({ texts, onlyIf }: GivenPrivilege, json: JsonObject, orgId: string): readonly string[] {
  return onlyIf === undefined || valueAt(json, onlyIf) === true ? textsAt(json, texts, orgId) : [];
}

/**
 * Returns the warning about a record that gives roles or domains in an organisation or project that existed before the
 * import. Returns undefined if the stored record already gave all of them.
 * @param stored the JSON of the record before the overwrite; undefined for a new record
 */
export function privilegeWarning(
  { given: privilege, texts }: Gift,
  record: OrganisationRecord,
  stored?: JsonObject,
): (RecordWarning & { readonly type: string; readonly id: string }) | undefined {
  const { json, orgId } = record;
  const before = new Set(stored === undefined ? [] : givenTexts(privilege, stored, orgId));
  const added = texts.filter((text) => !before.has(text));
  if (added.length === 0) return undefined;
  const target = `${privilege.noun} ${privilege.within.key.map((path) => textAt(json, path, orgId)).join(' ')}`;
  const warning =
    privilege.type === 'domain'
      ? warn('domain_added', { domain: added, target })
      : warn('privilege_added', { user: textAt(json, 'userId', orgId), roles: added, target });
  return { type: privilege.type, id: reportedId(record), ...warning };
}
