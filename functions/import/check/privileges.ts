// The privileges that records give: roles, and verified domains.

import { type JsonObject, textAt, textsAt, valueAt } from '../../../shared/json/jsonObject.ts';
import type { OrganisationRecord } from '../../../shared/organisation/record.ts';
import type { GivenPrivilege } from '../../../shared/organisation/section.ts';
import { type DocumentKey, documentId } from '../../../shared/store/store.ts';

/** A privilege that a record gives. */
export interface Gift {
  readonly given: GivenPrivilege;
  readonly texts: readonly string[];
  /** The organisation or project in which it holds. */
  readonly target: DocumentKey;
}

/** Returns the privilege that a record gives, if it gives any. */
export function giftOf({ section, json, orgId }: OrganisationRecord): Gift | undefined {
  const given = section.privilege;
  if (given === undefined) return undefined;
  const texts = givenTexts(given, json, orgId);
  const { collection, key } = given.within;
  const id = documentId(...key.map((path) => textAt(json, path, orgId)));
  return texts.length === 0 ? undefined : { given, texts, target: { collection, id } };
}

/** Returns the roles or the domain of a privilege. */
export function givenTexts({ texts, onlyIf }: GivenPrivilege, json: JsonObject, orgId: string): readonly string[] {
  return onlyIf === undefined || valueAt(json, onlyIf) === true ? textsAt(json, texts, orgId) : [];
}
