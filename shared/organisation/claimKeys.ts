import { textAt, valueAt } from '../json/jsonObject.ts';
import { foldLookAlikes } from '../lookAlikes/lookAlikes.ts';
import { distinctKeys } from '../store/readByPath.ts';
import { type DocumentKey, documentId } from '../store/store.ts';
import type { OrganisationRecord } from './record.ts';
import type { ReservedName, UniqueName } from './relations.ts';

/** A key under which some version may have claimed a name. */
export interface ClaimForm {
  readonly key: DocumentKey;
  /** Whether the scope is that of login names that carry their organisation's domain. */
  readonly byDomain: boolean;
}

/** Converts a name to the text that it has in common with all names that count as the same. */
type Fold = (name: string) => string;

const lowerCase: Fold = (name) => name.toLowerCase();
/** The conversions of names in which look-alikes count as the same: the present one, then that of older formats. */
const lookAlikeFolds: readonly Fold[] = [foldLookAlikes, lowerCase];

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
export function recordClaimKey(unique: UniqueName, record: OrganisationRecord, byDomain: boolean): DocumentKey {
  return foldedKey(unique, record, byDomain, unique.lookAlikes === true ? foldLookAlikes : lowerCase);
}

function foldedKey(unique: UniqueName, { json, orgId }: OrganisationRecord, byDomain: boolean, fold: Fold) {
  const isScoped = unique.perOrganisation || (unique.perOrganisationByDomainPolicy === true && byDomain);
  const names = unique.parts.map((path) => fold(textAt(json, path, orgId)));
  return claimKey(unique.type, names, isScoped ? [orgId] : []);
}

/** Lists the keys under which versions may have claimed a record's names: a list for each name, in the names' order. */
export function claimForms(record: OrganisationRecord): ClaimForm[][] {
  return claimedNames(record).map((unique) => {
    const folds = unique.lookAlikes === true ? lookAlikeFolds : [lowerCase];
    const forms = folds.flatMap((fold) =>
      [false, true].map((byDomain) => ({ key: foldedKey(unique, record, byDomain, fold), byDomain })),
    );
    return forms.filter(({ key }, index) => forms.findIndex((form) => form.key.id === key.id) === index);
  });
}

/**
 * Returns the keys of the claim that reserves the end of a record's name, the present one first; none for a name without
 * such an end.
 */
export function reservedKeys({ type, suffixOf }: ReservedName, { json, orgId }: OrganisationRecord): DocumentKey[] {
  const keys = lookAlikeFolds.flatMap((fold) => {
    const name = reservedPart(fold(textAt(json, suffixOf, orgId)));
    return name === undefined ? [] : [claimKey(type, [name])];
  });
  return distinctKeys(keys);
}

function reservedPart(name: string): string | undefined {
  const at = name.lastIndexOf('@');
  return at < 0 ? undefined : name.slice(at + 1);
}
