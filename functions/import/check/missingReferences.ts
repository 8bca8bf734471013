import { type RecordWarning, warn } from '../../../shared/errors/warnings.ts';
import { type JsonObject, parseObject, textAt } from '../../../shared/json/jsonObject.ts';
import type { OrganisationRecord } from '../../../shared/organisation/record.ts';
import { type PlannedReference, planRecord, referenceField } from '../../../shared/organisation/recordPlan.ts';
import type { KeyedIssue, RecordIssue, Reference } from '../../../shared/organisation/relations.ts';
import { isInDeletion } from '../../../shared/organisation/sections/users.ts';
import { documentPath, type StoredDocument } from '../../../shared/store/store.ts';
import { hasStoredContent } from '../decide/storedEquality.ts';
import type { Completed } from './completeRecords.ts';
import type { CreatedRecords } from './createdRecords.ts';

export interface Referring extends Completed {
  readonly references: readonly PlannedReference[];
}

/**
 * The documents to which records refer. The key is the path of a document; the value is undefined if the document is
 * missing.
 */
export type Found = ReadonlyMap<string, StoredDocument | undefined>;

/**
 * The reason why the import does not write a record. `notCarried` means that the record refers to another
 * organisation's record, or to a record that the import omits.
 */
type Rejection = RecordIssue | 'notCarried';
/** A `Rejection` to which the name of the referring field and the target's id will be added. */
type TargetRejection = KeyedIssue | 'notCarried';

/**
 * Returns the reason to reject a record, from the first reference whose target is missing, invalid or in another
 * organisation.
 */
export function findRejection(
  { plan: { record }, references }: Referring,
  documents: Found,
  created: Pick<CreatedRecords, 'lacks'>,
): Rejection | undefined {
  for (const reference of references) {
    const isMissing = documents.get(documentPath(reference.key)) === undefined;
    if (isMissing && created.lacks(reference.key)) return 'notCarried';
    const rejected = checkReference(reference, references, documents, record);
    if (rejected === undefined) continue;
    return typeof rejected === 'object' ? withTarget(rejected, reference, references, documents) : rejected;
  }
  return undefined;
}

/**
 * True if a target of a record is missing, or if its deletion has begun. The deletion of a target also deletes the
 * stored records that refer to the target.
 */
export function lacksTarget({ references }: Referring, documents: Found): boolean {
  return references.some((planned) => {
    const target = documents.get(documentPath(planned.key));
    return target === undefined ? !isKeptIfMissing(planned) : isInDeletion(target);
  });
}

function checkReference(
  planned: PlannedReference,
  others: readonly PlannedReference[],
  documents: Found,
  record: OrganisationRecord,
): TargetRejection | undefined {
  const rejection = checkTarget(planned, documents, record);
  const { missing, missingBesideOwn } = planned.reference;
  if (missingBesideOwn === undefined || rejection !== missing) return rejection;
  const beside = others.find(({ key }) => key.collection === missingBesideOwn.collection);
  const isOwn = beside !== undefined && documents.get(documentPath(beside.key))?.orgId === record.orgId;
  return isOwn ? missingBesideOwn.issue : missing;
}

function withTarget(
  issue: KeyedIssue,
  planned: PlannedReference,
  references: readonly PlannedReference[],
  documents: Found,
): RecordIssue {
  const targetOf = ({ key }: PlannedReference) => documents.get(documentPath(key));
  // Several references of a record can have the same issue. So the cause may be another of these references, if its
  // target is missing.
  const explains = (candidate: PlannedReference) =>
    candidate === planned || candidate.reference.missing.key === issue.key;
  const missing = [planned, ...references].find(
    (candidate) => explains(candidate) && targetOf(candidate) === undefined && !isKeptIfMissing(candidate),
  );
  const organisation = issue === planned.reference.ifForeign ? targetOf(planned)?.orgId : undefined;
  if (missing === undefined && organisation === undefined) return issue;
  const { reference, targetId: id } = missing ?? planned;
  const field = referenceField(reference);
  if (id === '') return { ...issue, reason: 'value_missing', params: { field } };
  if (missing !== undefined || organisation === undefined) return { ...issue, params: { field, id } };
  return { ...issue, reason: 'reference_foreign', params: { field, id, organisation } };
}

function checkTarget(
  planned: PlannedReference,
  documents: Found,
  record: OrganisationRecord,
): TargetRejection | undefined {
  const { reference, key, permit } = planned;
  const target = documents.get(documentPath(key));
  if (reference.isParent === true && !isStoredParent(record, target)) return 'notCarried';
  if (target === undefined && isKeptIfMissing(planned)) return undefined;
  if (target === undefined || isInDeletion(target)) return reference.missing;
  const isOwn = target.orgId === record.orgId;
  if (!isOwn && reference.ifForeign === 'notCarried') return 'notCarried';
  const body = reference.check === undefined ? undefined : parseObject(target.body);
  const isPermitted = permit !== undefined && documents.get(documentPath(permit)) !== undefined;
  const ifForeign = isPermitted || isOpen(reference, body, record.orgId) ? undefined : reference.ifForeign;
  if (isOwn && reference.ifOwn !== undefined) return 'notCarried';
  if (!isOwn && typeof ifForeign === 'object') return ifForeign;
  return body && reference.check?.(body, record.json, record.orgId);
}

/** True if a target in another organisation permits references from this organisation. */
function isOpen({ openTo }: Reference, body: JsonObject | undefined, orgId: string): boolean {
  return openTo !== undefined && body !== undefined && textAt(body, openTo, orgId) === orgId;
}

function isStoredParent({ parent }: OrganisationRecord, stored: StoredDocument | undefined): boolean {
  return parent !== undefined && stored !== undefined && hasStoredContent(planRecord(parent, false), stored);
}

function isKeptIfMissing({ reference, targetId }: PlannedReference): boolean {
  return reference.keptIfMissing !== undefined && targetId !== '';
}

/**
 * Some references of a record must have a target in another organisation. Lists a warning for each such reference whose
 * target is in the record's own organisation. The import omits a record with such a warning.
 */
export function ownTargets({ plan, references }: Referring, documents: Found): RecordWarning[] {
  const { orgId } = plan.record;
  return references.flatMap(({ reference: { ifOwn }, key }) =>
    ifOwn !== undefined && documents.get(documentPath(key))?.orgId === orgId ? [ifOwn] : [],
  );
}

/** Lists the warnings about missing targets that do not prevent the import of the record. */
export function keptReferences({ references }: Referring, documents: Found): readonly RecordWarning[] {
  return references.flatMap((planned) => {
    const { keptIfMissing } = planned.reference;
    const isKept = isKeptIfMissing(planned) && documents.get(documentPath(planned.key)) === undefined;
    return isKept && keptIfMissing !== undefined ? [warn(keptIfMissing, { provider: planned.targetId })] : [];
  });
}
