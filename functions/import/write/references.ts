import { because } from '../../../shared/errors/recordIssues.ts';
import { type RecordWarning, warn } from '../../../shared/errors/warnings.ts';
import { type JsonObject, parseObject, textAt } from '../../../shared/json/jsonObject.ts';
import type { OrganisationRecord } from '../../../shared/organisation/record.ts';
import { type PlannedReference, planRecord, planReferences } from '../../../shared/organisation/recordPlan.ts';
import type { RecordIssue, Reference } from '../../../shared/organisation/relations.ts';
import { isInSection } from '../../../shared/organisation/section.ts';
import { projectGrantSection } from '../../../shared/organisation/sections/grants.ts';
import { isInDeletion } from '../../../shared/organisation/sections/users.ts';
import type { FieldName } from '../../../shared/store/documentFields.ts';
import { type DocumentStore, documentPath, readByPath, type StoredDocument } from '../../../shared/store/store.ts';
import { yieldToEventLoop } from '../../../shared/turns.ts';
import { failed, type IncomingRecord } from '../incomingRecord.ts';
import { hasStoredContent } from './comparison.ts';

/**
 * The reason not to write a record: an issue, or `notCarried` for a record that refers to another organisation's, or
 * whose parent is not imported.
 */
type Rejection = RecordIssue | 'notCarried';

/** Records, each with its references. */
type ByRecord = ReadonlyMap<IncomingRecord, readonly PlannedReference[]>;

type Found = ReadonlyMap<string, StoredDocument | undefined>;

/** The number of references that are checked in one turn of the event loop and held in memory: a batch may have 300,000. */
const REFERENCES_AT_ONCE = 2_000;

/**
 * Decides the records whose references are missing, foreign or invalid, in a constant number of reads per 2,000 references.
 * Adds the warnings about records that are kept without their targets, and about records that are not carried.
 * @param removed the organisations in removal, whose records count as missing
 */
export async function checkReferences(
  store: DocumentStore,
  records: readonly IncomingRecord[],
  removed: ReadonlySet<string> = new Set(),
): Promise<void> {
  for await (const planned of planInTurns(records)) {
    const found = await readTargets(store, planned, removed);
    for (const [incoming, references] of planned) {
      const { record } = incoming.plan;
      const rejection = findFirst(references, (reference) => {
        const rejected = checkReference(reference, references, found, record);
        return typeof rejected === 'object' ? withTarget(rejected, reference, references, found) : rejected;
      });
      if (rejection === undefined) incoming.warnings.push(...keptReferences(references, found));
      else if (rejection === 'notCarried') {
        incoming.outcome = { kind: rejection };
        incoming.warnings.push(...ownTargets(references, found, record));
      } else incoming.outcome = failed(rejection);
    }
  }
}

async function* planInTurns(records: readonly IncomingRecord[]): AsyncGenerator<ByRecord> {
  let planned = new Map<IncomingRecord, readonly PlannedReference[]>();
  let size = 0;
  for (const incoming of records) {
    const references = planReferences(incoming.plan.record);
    if (references.length === 0) continue;
    planned.set(incoming, references);
    size += references.length;
    if (size < REFERENCES_AT_ONCE) continue;
    yield planned;
    await yieldToEventLoop();
    planned = new Map();
    size = 0;
  }
  if (size > 0) yield planned;
}

async function readTargets(store: DocumentStore, planned: ByRecord, removed: ReadonlySet<string>): Promise<Found> {
  const all = [...planned.values()].flat();
  const isInspected = ({ reference }: PlannedReference) => reference.check !== undefined || reference.isParent === true;
  // Bodies may be large. Only checks and the comparison of parents need them.
  const [existing, inspected] = await Promise.all([
    readReferenced(
      store,
      all.filter((reference) => !isInspected(reference)),
      ['orgId', 'partition'],
    ),
    readReferenced(store, all.filter(isInspected), ['orgId', 'partition', 'digest', 'state', 'body']),
  ]);
  const targets: Found = new Map([...existing, ...inspected].filter(([, target]) => !isRemoved(target, removed)));
  return new Map([...targets, ...(await readPermits(store, planned, targets))]);
}

/** Whether the removal of an organisation deletes a target: one of its own, or a project grant to it. */
function isRemoved(target: StoredDocument | undefined, removed: ReadonlySet<string>): boolean {
  if (target === undefined || removed.size === 0) return false;
  if (removed.has(target.orgId ?? '')) return true;
  if (!isInSection(target.partition, projectGrantSection)) return false;
  return removed.has(textAt(parseObject(target.body), 'projectGrant.grantedOrgId', ''));
}

/** Reads the claims that permit foreign targets, if there are such targets. */
function readPermits(store: DocumentStore, planned: ByRecord, targets: Found): Promise<Found> {
  const keys = [...planned].flatMap(([{ plan }, references]) =>
    references.flatMap(({ key, permit }) => {
      const target = targets.get(documentPath(key));
      const isForeign = target !== undefined && target.orgId !== plan.record.orgId;
      return permit !== undefined && isForeign ? [permit] : [];
    }),
  );
  return readByPath(store, keys, ['orgId']);
}

async function readReferenced(
  store: DocumentStore,
  references: readonly PlannedReference[],
  fields: readonly FieldName[],
): Promise<Found> {
  return readByPath(
    store,
    references.map(({ key }) => key),
    fields,
  );
}

function checkReference(
  planned: PlannedReference,
  others: readonly PlannedReference[],
  found: Found,
  record: OrganisationRecord,
): Rejection | undefined {
  const rejection = checkTarget(planned, found, record);
  const { missing, missingBesideOwn } = planned.reference;
  if (missingBesideOwn === undefined || rejection !== missing) return rejection;
  const beside = others.find(({ key }) => key.collection === missingBesideOwn.collection);
  const isOwn = beside !== undefined && found.get(documentPath(beside.key))?.orgId === record.orgId;
  return isOwn ? missingBesideOwn.issue : missing;
}

/** Adds the field and the id of the target. */
function withTarget(
  issue: RecordIssue,
  planned: PlannedReference,
  references: readonly PlannedReference[],
  found: Found,
): RecordIssue {
  const targetOf = ({ key }: PlannedReference) => found.get(documentPath(key));
  const missing = [planned, ...references].find((one) => targetOf(one) === undefined && !isKeptIfMissing(one));
  const organisation = issue === planned.reference.ifForeign ? targetOf(planned)?.orgId : undefined;
  if (missing === undefined && organisation === undefined) return issue;
  const { reference, targetId: id } = missing ?? planned;
  const field = String(reference.key.at(-1)).replace('[]', '');
  if (id === '') return { ...issue, ...because('value_missing', { field }) };
  if (missing !== undefined || organisation === undefined) return { ...issue, params: { field, id } };
  return { ...issue, ...because('reference_foreign', { field, id, organisation }) };
}

function checkTarget(planned: PlannedReference, found: Found, record: OrganisationRecord): Rejection | undefined {
  const { reference, key, permit } = planned;
  const target = found.get(documentPath(key));
  if (reference.isParent === true && !isStoredParent(record, target)) return 'notCarried';
  if (target === undefined && isKeptIfMissing(planned)) return undefined;
  if (target === undefined || isInDeletion(target)) return reference.missing;
  const isOwn = target.orgId === record.orgId;
  if (!isOwn && reference.ifForeign === 'notCarried') return 'notCarried';
  const body = reference.check === undefined ? undefined : parseObject(target.body);
  const isPermitted = permit !== undefined && found.get(documentPath(permit)) !== undefined;
  const ifForeign = isPermitted || isOpen(reference, body, record.orgId) ? undefined : reference.ifForeign;
  if (isOwn && reference.ifOwn !== undefined) return 'notCarried';
  if (!isOwn && typeof ifForeign === 'object') return ifForeign;
  return body && reference.check?.(body, record.json, record.orgId);
}

/** Whether a foreign target names the organisation as one that may refer to it. */
function isOpen({ openTo }: Reference, body: JsonObject | undefined, orgId: string): boolean {
  return openTo !== undefined && body !== undefined && textAt(body, openTo, orgId) === orgId;
}

/** Whether a record's parent is stored as the file has it. */
function isStoredParent({ parent }: OrganisationRecord, stored: StoredDocument | undefined): boolean {
  return parent !== undefined && stored !== undefined && hasStoredContent(planRecord(parent, false), stored);
}

function isKeptIfMissing({ reference, targetId }: PlannedReference): boolean {
  return reference.keptIfMissing !== undefined && targetId !== '';
}

/** Lists the warnings about targets of the same organisation, for which a record is not carried. */
function ownTargets(
  references: readonly PlannedReference[],
  found: Found,
  { orgId }: OrganisationRecord,
): RecordWarning[] {
  return references.flatMap(({ reference: { ifOwn }, key }) =>
    ifOwn !== undefined && found.get(documentPath(key))?.orgId === orgId ? [ifOwn] : [],
  );
}

/** Lists the warnings about missing targets. */
function keptReferences(references: readonly PlannedReference[], found: Found): RecordWarning[] {
  return references.flatMap((planned) => {
    const { keptIfMissing } = planned.reference;
    const isKept = isKeptIfMissing(planned) && found.get(documentPath(planned.key)) === undefined;
    return isKept && keptIfMissing !== undefined ? [warn(keptIfMissing, { provider: planned.targetId })] : [];
  });
}

function findFirst<Item, Result>(items: readonly Item[], find: (item: Item) => Result | undefined): Result | undefined {
  for (const item of items) {
    const result = find(item);
    if (result !== undefined) return result;
  }
  return undefined;
}
