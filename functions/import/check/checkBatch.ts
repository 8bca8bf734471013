import { parseObject, textAt } from '../../../shared/json/jsonObject.ts';
import { type Gift, giftOf } from '../../../shared/organisation/privileges.ts';
import { type PlannedReference, planReferences } from '../../../shared/organisation/recordPlan.ts';
import { projectGrantSection } from '../../../shared/organisation/sections/grants.ts';
import { isInSection } from '../../../shared/organisation/sections/section.ts';
import { documentPath, readByPath, type StoredDocument } from '../../../shared/store/store.ts';
import { yieldToEventLoop } from '../../../shared/turns.ts';
import type { ImportContext } from '../context.ts';
import { isDeleted, isDoomed } from '../mirror/deletions.ts';
import { type BatchRecord, failed, isSettled, type Planned, type Settled, unsettled, withWarnings } from '../stages.ts';
import { isCreatedByCall } from '../stamp.ts';
import { type Completed, completeRecords } from './completeRecords.ts';
import {
  type Found,
  findRejection,
  keptReferences,
  lacksTarget,
  ownTargets,
  type Referring,
} from './missingReferences.ts';
import { withoutMissingTargets } from './missingTargets.ts';

type CheckContext = Pick<ImportContext, 'store' | 'removed' | 'rules' | 'mirror' | 'state'>;

interface Subject extends Referring {
  readonly gift: Gift | undefined;
}

/** Checks the records of a batch in order. Reads the documents of 2,000 references at a time, to bound the memory. */
export async function checkBatch(context: CheckContext, plans: readonly Planned[]): Promise<BatchRecord[]> {
  const checked: BatchRecord[] = [];
  for await (const part of inParts(await completeRecords(context.store, plans))) {
    const documents = await readFound(context, unsettled(part));
    for (const record of part) checked.push(isSettled(record) ? record : checkRecord(context, record, documents));
  }
  return checked;
}

/** The number of references to check before yielding to the event loop. A batch can have 300,000 references. */
const REFERENCES_AT_ONCE = 2_000;

async function* inParts(records: readonly (Completed | Settled)[]): AsyncGenerator<readonly (Subject | Settled)[]> {
  let part: (Subject | Settled)[] = [];
  let size = 0;
  for (const record of records) {
    if (isSettled(record)) part.push(record);
    else {
      const references = planReferences(record.plan.record);
      part.push({ ...record, references, gift: giftOf(record.plan.record) });
      size += references.length;
    }
    if (size < REFERENCES_AT_ONCE) continue;
    yield part;
    await yieldToEventLoop();
    part = [];
    size = 0;
  }
  yield part;
}

const targetFields = ['orgId', 'partition', 'createdAt'] as const;
const parentFields = ['digest', 'state'] as const;

/**
 * Reads the documents to which records refer. A document counts as missing if this import, or the removal of an
 * organisation, deletes the document.
 */
async function readFound(
  { store, removed, mirror, state }: CheckContext,
  subjects: readonly Subject[],
): Promise<Found> {
  const references = subjects.flatMap((subject) => subject.references);
  // Bodies can be large. So read a body only if a check of the reference needs it, or to compare parents whose digests
  // differ.
  const isChecked = ({ reference }: PlannedReference) => reference.check !== undefined;
  const checked = references.filter(isChecked).map(({ key }) => key);
  const others = references.filter((reference) => !isChecked(reference)).map(({ key }) => key);
  const permits = references.flatMap(({ permit }) => permit ?? []);
  const targets = subjects.flatMap(({ gift }) => gift?.target ?? []);
  const parents = subjects.flatMap(parentsOf);
  const created = state.created.find([...others, ...targets]);
  const unknown = [...others, ...permits, ...targets].filter((key) => !created.has(documentPath(key)));
  const [existing, whole] = await Promise.all([
    readByPath(store, unknown, [
      ...targetFields,
      ...(parents.length === 0 ? [] : parentFields),
      ...(mirror === undefined ? [] : ['ownerId' as const]),
    ]),
    readByPath(store, checked, [...targetFields, 'body']),
  ]);
  const documents = new Map([...created, ...existing, ...whole]);
  const differing = parents.filter(({ key, digest }) => {
    const parent = documents.get(documentPath(key));
    return parent !== undefined && parent.digest !== digest;
  });
  const compared = await readByPath(
    store,
    differing.map(({ key }) => key),
    [...targetFields, ...parentFields, 'body'],
  );
  // Some references to another organisation's record are permitted only if a certain stored name exists. If the import
  // deletes the record with that name, the name counts as missing too.
  const isGone = (path: string, { ownerId = '' }: StoredDocument) =>
    isDoomed(path, mirror) || isDeleted(ownerId, mirror);
  return new Map(
    [...documents, ...compared].filter(
      ([path, target]) => target !== undefined && !isRemoved(target, removed) && !isGone(path, target),
    ),
  );
}

/** Returns the keys of the records that contain this record in the file, with their digests in the file. */
function parentsOf({ plan: { record }, references }: Subject) {
  const parents = references.filter(({ reference }) => reference.isParent === true);
  return parents.map(({ key }) => ({ key, digest: record.parent?.digest }));
}

/**
 * True if a target belongs to an organisation whose removal was interrupted, or is a project grant to such an
 * organisation. The removal will delete this target.
 */
function isRemoved(target: StoredDocument, removed: ReadonlySet<string>): boolean {
  if (removed.size === 0) return false;
  if (removed.has(target.orgId ?? '')) return true;
  if (!isInSection(target.partition, projectGrantSection)) return false;
  return removed.has(textAt(parseObject(target.body), 'projectGrant.grantedOrgId', ''));
}

function checkRecord({ rules, state }: CheckContext, subject: Subject, documents: Found): BatchRecord {
  const referring = withoutMissingTargets(subject, documents);
  const rejection = subject.plan.rejection ?? findRejection(referring, documents, state.created);
  if (rejection === 'notCarried') {
    const warnings = [...subject.warnings, ...ownTargets(referring, documents)];
    return { plan: subject.plan, outcome: withWarnings({ kind: rejection }, warnings) };
  }
  if (rejection !== undefined && lacksTarget(referring, documents))
    return { plan: subject.plan, outcome: failed(rejection) };
  const { gift } = subject;
  const target = gift && documents.get(documentPath(gift.target));
  const privilege = gift && { ...gift, existed: target !== undefined && !isCreatedByCall(rules, target) };
  const kept = keptReferences(referring, documents);
  const warnings = kept.length === 0 ? referring.warnings : [...referring.warnings, ...kept];
  const plan = rejection === undefined ? referring.plan : { ...referring.plan, rejection };
  return { plan, warnings, privilege };
}
