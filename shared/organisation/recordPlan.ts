import { textAt, textsAt } from '../json/jsonObject.ts';
import type { DocumentFields } from '../store/documentFields.ts';
import { type DocumentKey, documentId, documentPath, type Write } from '../store/store.ts';
import { caselessClaimKey, claimedNames, recordClaimKey, reservedKey } from './claimKeys.ts';
import { type OrganisationRecord, storedFields } from './record.ts';
import type { RecordIssue, Reference } from './relations.ts';
import { targetParts } from './sections/references.ts';

/** A name that a record claims, and the issue when another record has claimed it. */
export interface PlannedClaim {
  readonly key: DocumentKey;
  readonly taken: RecordIssue;
}

/** A name that a record must not use when another organisation has claimed it, and the issue then. */
export interface PlannedReserve {
  /** The key of the claim. */
  readonly key: DocumentKey;
  readonly reserved: RecordIssue;
}

/** A record with its key, claims and reserved names. */
export interface RecordPlan {
  readonly record: OrganisationRecord;
  readonly key: DocumentKey;
  readonly claims: readonly PlannedClaim[];
  readonly reserves: readonly PlannedReserve[];
}

/**
 * Plans a record.
 * @param loginNamesByDomain whether the organisation's login names carry its domain
 */
export function planRecord(record: OrganisationRecord, loginNamesByDomain: boolean): RecordPlan {
  const claims = claimedNames(record).map((unique) => ({
    key: recordClaimKey(unique, record, loginNamesByDomain),
    taken: unique.taken,
  }));
  const reserves = loginNamesByDomain ? [] : plannedReserves(record);
  return { record, key: recordKey(record), claims, reserves };
}

function plannedReserves(record: OrganisationRecord): PlannedReserve[] {
  return (record.section.reserved ?? []).flatMap((name) => {
    const key = reservedKey(name, record);
    return key === undefined ? [] : [{ key, reserved: name.reserved }];
  });
}

/** Returns the key under which a record is stored. */
export function recordKey({ section, json, orgId }: OrganisationRecord): DocumentKey {
  return { collection: section.collection, id: documentId(...section.key.map((path) => textAt(json, path, orgId))) };
}

/** Returns the id by which reports name a record: as the file has it, before its values were converted. */
export function reportedId({ section, given, json, orgId }: OrganisationRecord): string {
  return section.error.id.map((path) => textAt(given ?? json, path, orgId)).join('_');
}

/**
 * Builds the write that creates a record, without its claims.
 * @param createdAt the creation time, which also identifies the import that created the record
 */
export function createRecord({ record, key }: RecordPlan, createdAt: string): Write & { type: 'create' } {
  const fields: DocumentFields = { ...storedFields(record), sequence: 1, createdAt, changedAt: createdAt };
  return { type: 'create', key, fields };
}

/** Builds the writes that create a record and its claims. */
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

/** A record's reference with the key of its target. */
export interface PlannedReference {
  readonly reference: Reference;
  readonly key: DocumentKey;
  /** The last part of the key, which names the target. */
  readonly targetId: string;
  /** The key of the claim that permits a foreign target. */
  readonly permit: DocumentKey | undefined;
}

/** Lists a record's references, one for each element of a list. */
export function planReferences({ section, json, given, orgId }: OrganisationRecord): PlannedReference[] {
  const readText = (path: string) => textAt(json, path, orgId);
  return (section.references ?? []).flatMap((reference) => {
    const { permittedBy, inFile } = reference;
    const permit = permittedBy && caselessClaimKey(permittedBy.type, permittedBy.parts.map(readText));
    const source = inFile === true && given !== undefined ? given : json;
    return targetParts(reference, (path) => textsAt(source, path, orgId)).map((parts) => ({
      reference,
      key: { collection: reference.collection, id: documentId(...parts) },
      targetId: parts.at(-1) ?? '',
      permit,
    }));
  });
}
