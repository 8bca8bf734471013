import { textAt, textsAt, valueAt } from '../json/jsonObject.ts';
import { foldLookAlikes } from '../lookAlikes.ts';
import type { DocumentFields } from '../store/documentFields.ts';
import { type DocumentKey, distinctKeys, documentId, documentPath, type Write } from '../store/store.ts';
import { caselessClaimKey, claimKey, lowerCase } from './claimKeys.ts';
import { type OrganisationRecord, storedFields } from './record.ts';
import type { FieldPath, KeyedIssue, Reference, UniqueName } from './relations.ts';
import { targetParts } from './sections/sharedReferences.ts';

interface PlannedClaim extends Pick<UniqueName, 'taken'> {
  readonly key: DocumentKey;
}

/**
 * A name that a record must not use if another organisation has a claim on the name. `reserved` is the issue in that
 * case.
 */
interface PlannedReserve {
  /** The key under which the claim of another organisation would exist. */
  readonly key: DocumentKey;
  readonly reserved: KeyedIssue;
}

export interface RecordPlan {
  readonly record: OrganisationRecord;
  readonly key: DocumentKey;
  readonly claims: readonly PlannedClaim[];
  readonly reserves: readonly PlannedReserve[];
  /** Fields that are stored together with the record, but only if the import creates the record. */
  readonly origin?: Pick<DocumentFields, 'importedFrom' | 'lastImport'>;
}

/**
 * Derives what an import needs to write a record: its key, its claims, and the names that other organisations may have
 * reserved.
 * @param loginNamesByDomain whether the organisation's login names contain its domain; for a domain policy, whether
 * they would contain the domain without the policy
 * @example
 * planRecord(readRecord(projects, { projectId: 'p1', project: { name: 'Shop' } }, 'o1'), false);
 * // key: projects/p1, claims: [claims/project|o1|shop]
 */
export function planRecord(record: OrganisationRecord, loginNamesByDomain: boolean): RecordPlan {
  const claims = claimedNames(record, loginNamesByDomain).map((unique) => ({
    key: recordClaimKey(unique, record, loginNamesByDomain),
    taken: unique.taken,
  }));
  const reserves = loginNamesByDomain ? [] : plannedReserves(record);
  return { record, key: recordKey(record), claims, reserves };
}

function plannedReserves({ section, json, orgId }: OrganisationRecord): PlannedReserve[] {
  const planned: PlannedReserve[] = [];
  for (const { type, suffixOf, reserved } of section.reserved ?? []) {
    const text = foldLookAlikes(textAt(json, suffixOf, orgId));
    const at = text.lastIndexOf('@');
    if (at >= 0) planned.push({ key: claimKey(type, [text.slice(at + 1)]), reserved });
  }
  return planned;
}

export type KeyedRecord = Pick<OrganisationRecord, 'section' | 'json' | 'orgId'>;

export function recordKey({ section, json, orgId }: KeyedRecord): DocumentKey {
  return { collection: section.collection, id: documentId(...section.key.map((path) => textAt(json, path, orgId))) };
}

/** Returns the id by which reports identify a record: the id in the file, before conversions. */
export function reportedId({ section, given, json, orgId }: OrganisationRecord): string {
  return section.error.id.map((path) => textAt(given ?? json, path, orgId)).join('_');
}

/** Returns the id by which reports identify a record; undefined for an invalid record whose id cannot be read. */
export function readableId(record: OrganisationRecord): string | undefined {
  const id = reportedId(record);
  return record.invalid === undefined || /[^_]/.test(id) ? id : undefined;
}

/**
 * Builds the write that creates a record, without its claims.
 * @param createdAt the creation time, which also identifies the import that created the record
 */
export function createRecord({ record, key, origin }: RecordPlan, createdAt: string): Write & { type: 'create' } {
  const fields: DocumentFields = { ...storedFields(record), ...origin, sequence: 1, createdAt, changedAt: createdAt };
  return { type: 'create', key, fields };
}

export function createWrites(plan: RecordPlan, createdAt: string): Write[] {
  const claims = plan.claims.map(
    ({ key }): Write => ({
      type: 'create',
      key,
      fields: { orgId: plan.record.orgId, ownerId: documentPath(plan.key) },
    }),
  );
  return [createRecord(plan, createdAt), ...claims];
}

export interface PlannedReference {
  readonly reference: Reference;
  readonly key: DocumentKey;
  /** The target's id, which is the last part of its key. */
  readonly targetId: string;
  /**
   * The key of a claim. If the target belongs to another organisation, the reference is valid only if this claim
   * exists. Undefined if a valid reference needs no claim.
   */
  readonly permit: DocumentKey | undefined;
}

/**
 * Lists a record's references. If the path of a reference leads through a list, each element of the list is a separate
 * reference.
 * @example
 * planReferences(readRecord(userGrantSection, { userId: 'u1', projectId: 'p1', roleKeys: ['a', 'b'] }, 'o1'));
 * // users/u1, projects/p1, projectRoles/p1|a, projectRoles/p1|b
 */
export function planReferences({ section, json, orgId }: KeyedRecord): readonly PlannedReference[] {
  if (section.references === undefined) return NO_REFERENCES;
  const planned: PlannedReference[] = [];
  const readTexts = (path: FieldPath) => textsAt(json, path, orgId);
  for (const reference of section.references) {
    const { collection, permittedBy } = reference;
    const targets = targetParts(reference, readTexts);
    if (targets.length === 0) continue;
    const permit =
      permittedBy &&
      caselessClaimKey(
        permittedBy.type,
        permittedBy.parts.map((path) => textAt(json, path, orgId)),
      );
    for (const parts of targets)
      planned.push({
        reference,
        key: { collection, id: documentId(...parts) },
        targetId: parts.at(-1) ?? '',
        permit,
      });
  }
  return planned;
}

export function targetKeys(reference: Reference, { json, orgId }: KeyedRecord): readonly DocumentKey[] {
  const { collection, key, optional } = reference;
  const [path = ''] = key;
  if (key.length === 1 && !path.includes('[')) {
    const text = textAt(json, path, orgId);
    return text === '' && optional === true ? [] : [{ collection, id: documentId(text) }];
  }
  return targetParts(reference, (part) => textsAt(json, part, orgId)).map((parts) => ({
    collection,
    id: documentId(...parts),
  }));
}

/** Returns the name of the field that contains the id of a reference's target. */
export function referenceField({ key }: Reference): string {
  return String(key.at(-1)).replace('[]', '');
}

/** True if a record grants a project to the organisation that owns this project. Imports omit such a record. */
export function isGrantToItself({ section: { references = [] }, json, orgId }: OrganisationRecord): boolean {
  return references.some(
    (reference) =>
      reference.ifOwn !== undefined &&
      reference.collection === 'organisations' &&
      targetParts(reference, (path) => textsAt(json, path, orgId)).some((parts) => parts.at(-1) === orgId),
  );
}

const NO_REFERENCES: readonly PlannedReference[] = [];

function claimedNames({ section: { unique = NO_NAMES }, json }: KeyedRecord, byDomain: boolean): readonly UniqueName[] {
  const isTrue = (path: FieldPath) => valueAt(json, path) === true;
  const isClaimed = ({ onlyIf, onlyIfLoginNamesChange: changes }: UniqueName) =>
    (onlyIf === undefined || isTrue(onlyIf)) && (changes === undefined || isTrue(changes) !== byDomain);
  return unique.every(isClaimed) ? unique : unique.filter(isClaimed);
}

const NO_NAMES: readonly UniqueName[] = [];

/** @param byDomain true if the organisation's login names contain its domain */
function recordClaimKey(unique: UniqueName, { json, orgId }: KeyedRecord, byDomain: boolean): DocumentKey {
  const isScoped = unique.perOrganisation || (unique.perOrganisationByDomainPolicy === true && byDomain);
  const fold = unique.lookAlikes === true ? foldLookAlikes : lowerCase;
  const names = unique.parts.map((path) => fold(textAt(json, path, orgId)));
  return claimKey(unique.type, names, isScoped ? [orgId] : []);
}

/**
 * Lists the keys of all claims that a record may own: the claims that it owns if login names contain the organisation's
 * domain, and the claims that it owns otherwise.
 */
export function possibleClaimKeys(record: KeyedRecord): DocumentKey[] {
  const keys = [false, true].flatMap((byDomain) =>
    claimedNames(record, byDomain).map((unique) => recordClaimKey(unique, record, byDomain)),
  );
  return distinctKeys(keys);
}
