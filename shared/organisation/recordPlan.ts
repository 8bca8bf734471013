import { textAt, textsAt, valueAt } from '../json/jsonObject.ts';
import type { DocumentFields } from '../store/documentFields.ts';
import { type DocumentKey, documentId, type Write } from '../store/store.ts';
import { type OrganisationRecord, storedFields } from './record.ts';
import type { RecordIssue, Reference, ReservedName, UniqueName } from './section.ts';

/** A name that a record claims, and the fault when another record holds it. */
interface PlannedClaim {
  readonly key: DocumentKey;
  readonly taken: RecordIssue;
}

/** A name that a record must not use where another organisation claims it, and the fault then. */
export interface PlannedReserve {
  readonly type: string;
  readonly name: string;
  readonly reserved: RecordIssue;
}

/** Where a record goes and what it claims. */
export interface RecordPlan {
  readonly record: OrganisationRecord;
  readonly key: DocumentKey;
  readonly claims: readonly PlannedClaim[];
  readonly reserves: readonly PlannedReserve[];
}

/** Plans a record. `loginNamesByDomain`: whether its organisation's login names carry the organisation's domain. */
export function planRecord(record: OrganisationRecord, loginNamesByDomain: boolean): RecordPlan {
  const { section, json, orgId } = record;
  const id = documentId(...section.key.map((path) => textAt(json, path, orgId)));
  const claims = (section.unique ?? [])
    .filter(({ onlyIf }) => onlyIf === undefined || valueAt(json, onlyIf) === true)
    .map((unique) => ({ key: plannedClaimKey(unique, record, loginNamesByDomain), taken: unique.taken }));
  const reserves = loginNamesByDomain ? [] : (section.reserved ?? []).flatMap((name) => plannedReserves(name, record));
  return { record, key: { collection: section.collection, id }, claims, reserves };
}

function plannedClaimKey(unique: UniqueName, { json, orgId }: OrganisationRecord, loginNamesByDomain: boolean) {
  const scope = unique.perOrganisationByDomainPolicy && loginNamesByDomain ? [orgId] : [];
  const parts = unique.parts.map((path) => textAt(json, path, orgId));
  return claimKey(unique.type, parts, scope);
}

/** Where a name is claimed. Names are compared without regard to case, as ZITADEL compares them. */
export function claimKey(type: string, parts: readonly string[], scope: readonly string[] = []): DocumentKey {
  return { collection: 'claims', id: documentId(type, ...scope, ...parts.map((part) => part.toLowerCase())) };
}

function plannedReserves({ type, suffixOf, reserved }: ReservedName, { json, orgId }: OrganisationRecord) {
  const text = textAt(json, suffixOf, orgId);
  const at = text.lastIndexOf('@');
  return at < 0 ? [] : [{ type, name: text.slice(at + 1), reserved }];
}

/** What a claim stores as its owner. */
export function documentPath({ collection, id }: DocumentKey): string {
  return `${collection}/${id}`;
}

/** The write that creates a record, without its claims. `createdAt` marks it as made by this import. */
export function createRecord({ record, key }: RecordPlan, createdAt: string): Write & { type: 'create' } {
  const fields: DocumentFields = { ...storedFields(record), sequence: 1, createdAt, changedAt: createdAt };
  return { type: 'create', key, fields };
}

/** The writes that create a record with all its claims. */
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

/** Where a record's reference leads to. */
export interface PlannedReference {
  readonly reference: Reference;
  readonly key: DocumentKey;
}

/** The references of a record, those of lists one by one. */
export function planReferences({ section, json, orgId }: OrganisationRecord): PlannedReference[] {
  return (section.references ?? []).flatMap((reference) =>
    expandKeys(reference, (path) => textsAt(json, path, orgId))
      .filter((parts) => reference.optional !== true || parts.at(-1) !== '')
      .map((parts) => ({ reference, key: { collection: reference.collection, id: documentId(...parts) } })),
  );
}

/** The keys that a reference's paths lead to: one, or one for each element of the list that one of them leads through. */
function expandKeys({ key }: Reference, textsOf: (path: string) => readonly string[]): string[][] {
  let keys: string[][] = [[]];
  for (const path of key) {
    const texts = textsOf(path);
    keys = keys.flatMap((parts) => texts.map((text) => [...parts, text]));
  }
  return keys;
}
