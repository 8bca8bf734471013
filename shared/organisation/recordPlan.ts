import { textAt, textsAt, valueAt } from '../json/jsonObject.ts';
import type { DocumentFields } from '../store/documentFields.ts';
import { type DocumentKey, documentId, documentPath, type Write } from '../store/store.ts';
import { type OrganisationRecord, storedFields } from './record.ts';
import type { RecordIssue, Reference, ReservedName, UniqueName } from './section.ts';

/** A name that a record claims, and the issue when another record has claimed it. */
export interface PlannedClaim {
  readonly key: DocumentKey;
  readonly taken: RecordIssue;
}

/** A name that a record must not use when another organisation has claimed it, and the issue then. */
export interface PlannedReserve {
  readonly type: string;
  readonly name: string;
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
  const { section, json } = record;
  const claims = (section.unique ?? [])
    .filter(({ onlyIf }) => onlyIf === undefined || valueAt(json, onlyIf) === true)
    .map((unique) => ({ key: plannedClaimKey(unique, record, loginNamesByDomain), taken: unique.taken }));
  const reserves = loginNamesByDomain ? [] : (section.reserved ?? []).flatMap((name) => plannedReserves(name, record));
  return { record, key: recordKey(record), claims, reserves };
}

/** Returns the key under which a record is stored. */
export function recordKey({ section, json, orgId }: OrganisationRecord): DocumentKey {
  return { collection: section.collection, id: documentId(...section.key.map((path) => textAt(json, path, orgId))) };
}

/** Returns the id by which reports name a record: as the file has it, before its values were converted. */
export function reportedId({ section, given, json, orgId }: OrganisationRecord): string {
  return section.error.id.map((path) => textAt(given ?? json, path, orgId)).join('_');
}

function plannedClaimKey(unique: UniqueName, { json, orgId }: OrganisationRecord, loginNamesByDomain: boolean) {
  const byDomain = unique.perOrganisationByDomainPolicy === true && loginNamesByDomain;
  const scope = unique.perOrganisation || byDomain ? [orgId] : [];
  const parts = unique.parts.map((path) => textAt(json, path, orgId));
  return claimKey(unique.type, parts, scope);
}

/** Returns the key of a name's claim. Names are case-insensitive, as in ZITADEL. */
export function claimKey(type: string, parts: readonly string[], scope: readonly string[] = []): DocumentKey {
  return { collection: 'claims', id: documentId(type, ...scope, ...parts.map((part) => part.toLowerCase())) };
}

function plannedReserves({ type, suffixOf, reserved }: ReservedName, { json, orgId }: OrganisationRecord) {
  const text = textAt(json, suffixOf, orgId);
  const at = text.lastIndexOf('@');
  return at < 0 ? [] : [{ type, name: text.slice(at + 1), reserved }];
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
export function planReferences({ section, json, orgId }: OrganisationRecord): PlannedReference[] {
  const readText = (path: string) => textAt(json, path, orgId);
  return (section.references ?? []).flatMap((reference) => {
    const { permittedBy } = reference;
    const permit = permittedBy && claimKey(permittedBy.type, permittedBy.parts.map(readText));
    return expandKeys(reference, (path) => textsAt(json, path, orgId))
      .filter((parts) => reference.optional !== true || parts.at(-1) !== '')
      .map((parts) => ({
        reference,
        key: { collection: reference.collection, id: documentId(...parts) },
        targetId: parts.at(-1) ?? '',
        permit,
      }));
  });
}

/** Expands a reference's paths to keys: a single one, or one for each element of the list that a path expands. */
function expandKeys({ key }: Reference, readTexts: (path: string) => readonly string[]): string[][] {
  let keys: string[][] = [[]];
  for (const path of key) {
    const texts = readTexts(path);
    keys = keys.flatMap((parts) => texts.map((text) => [...parts, text]));
  }
  return keys;
}
