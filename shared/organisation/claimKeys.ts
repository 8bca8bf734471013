import { textAt, valueAt } from '../json/jsonObject.ts';
import { foldLookAlikes } from '../lookAlikes/lookAlikes.ts';
import { type DocumentKey, distinctKeys, documentId } from '../store/store.ts';
import type { OrganisationRecord } from './record.ts';
import type { ReservedName, UniqueName } from './relations.ts';

/** Converts a name to the text that it has in common with all names that count as the same. */
type Fold = (name: string) => string;

const lowerCase: Fold = (name) => name.toLowerCase();

/**
 * Returns the key of a name's claim.
 * @param names the name's parts, in the form in which the same names are equal
 */
export function claimKey(type: string, names: readonly string[], scope: readonly string[] = []): DocumentKey {
  return { collection: 'claims', id: documentId(type, ...scope, ...names) };
}

/** Returns the key of the claim of a name that ZITADEL compares without regard to case. */
export function caselessClaimKey(type: string, parts: readonly string[]): DocumentKey {
  return claimKey(type, parts.map(lowerCase));
}

/** Lists the unique names that a record claims. */
export function claimedNames({ section, json }: OrganisationRecord): UniqueName[] {
  return (section.unique ?? []).filter(({ onlyIf }) => onlyIf === undefined || valueAt(json, onlyIf) === true);
}

/**
 * Returns the key of a record's claim.
 * @param byDomain whether the organisation's login names carry its domain
 */
export function recordClaimKey(
  unique: UniqueName,
  { json, orgId }: OrganisationRecord,
  byDomain: boolean,
): DocumentKey {
  const isScoped = unique.perOrganisation || (unique.perOrganisationByDomainPolicy === true && byDomain);
  const fold = unique.lookAlikes === true ? foldLookAlikes : lowerCase;
  const names = unique.parts.map((path) => fold(textAt(json, path, orgId)));
  return claimKey(unique.type, names, isScoped ? [orgId] : []);
}

/** Lists the keys of a record's claims, whether or not its organisation's login names carry the domain. */
export function possibleClaimKeys(record: OrganisationRecord): DocumentKey[] {
  const keys = claimedNames(record).flatMap((unique) =>
    [false, true].map((byDomain) => recordClaimKey(unique, record, byDomain)),
  );
  return distinctKeys(keys);
}

/** Returns the key of the claim that reserves the end of a record's name; undefined for a name without such an end. */
export function reservedKey(
  { type, suffixOf }: ReservedName,
  { json, orgId }: OrganisationRecord,
): DocumentKey | undefined {
  const name = reservedPart(foldLookAlikes(textAt(json, suffixOf, orgId)));
  return name === undefined ? undefined : claimKey(type, [name]);
}

function reservedPart(name: string): string | undefined {
  const at = name.lastIndexOf('@');
  return at < 0 ? undefined : name.slice(at + 1);
}
