import type { DocumentFields } from '../store/documentFields.ts';
import { documentId } from '../store/documentId.ts';
import type { DocumentKey, Write } from '../store/store.ts';
import { textAt, valueAt } from './jsonRecord.ts';
import { type OrganisationRecord, storedFields } from './record.ts';
import type { RecordFault, UniqueName } from './section.ts';

/** A name that a record claims, and the fault when another record holds it. */
interface PlannedClaim {
  readonly key: DocumentKey;
  readonly taken: RecordFault;
}

/** Where a record goes and what it claims. */
export interface RecordPlan {
  readonly record: OrganisationRecord;
  readonly key: DocumentKey;
  readonly claims: readonly PlannedClaim[];
}

/** Plans a record. `loginNamesByDomain`: whether its organisation's login names carry the organisation's domain. */
export function planRecord(record: OrganisationRecord, loginNamesByDomain: boolean): RecordPlan {
  const { section, json, orgId } = record;
  const id = documentId(...section.key.map((path) => textAt(json, path, orgId)));
  const claims = (section.unique ?? [])
    .filter(({ onlyIf }) => onlyIf === undefined || valueAt(json, onlyIf) === true)
    .map((unique) => ({ key: claimKey(unique, record, loginNamesByDomain), taken: unique.taken }));
  return { record, key: { collection: section.collection, id }, claims };
}

/** Names are compared without regard to case, as ZITADEL compares them. */
function claimKey(unique: UniqueName, { json, orgId }: OrganisationRecord, loginNamesByDomain: boolean): DocumentKey {
  const scope = unique.perOrganisationByDomainPolicy && loginNamesByDomain ? [orgId] : [];
  const parts = unique.parts.map((path) => textAt(json, path, orgId).toLowerCase());
  return { collection: 'claims', id: documentId(unique.type, ...scope, ...parts) };
}

/** What a claim stores as its owner. */
export function ownerOf({ collection, id }: DocumentKey): string {
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
    ({ key }): Write => ({ type: 'create', key, fields: { orgId: plan.record.orgId, ownerId: ownerOf(plan.key) } }),
  );
  return [createRecord(plan, createdAt), ...claims];
}
