// The check of a batch: its records are completed, and compared with the documents that they refer to.

import { parseObject, textAt } from '../../../shared/json/jsonObject.ts';
import { planReferences, type RecordPlan } from '../../../shared/organisation/recordPlan.ts';
import type { RecordIssue } from '../../../shared/organisation/relations.ts';
import { isInSection } from '../../../shared/organisation/section.ts';
import { projectGrantSection } from '../../../shared/organisation/sections/grants.ts';
import { documentPath, type Reader, readByPath, type StoredDocument } from '../../../shared/store/store.ts';
import { yieldToEventLoop } from '../../../shared/turns.ts';
import type { ImportContext } from '../context.ts';
import {
  type BatchRecord,
  failed,
  isSettled,
  type Privilege,
  type Settled,
  unsettled,
  withWarnings,
} from '../stages.ts';
import { isCreatedByCall } from '../stamp.ts';
import { type Completed, completeRecords } from './completeRecords.ts';
import { withoutMissingRoles } from './missingRoles.ts';
import { type Gift, giftOf } from './privileges.ts';
import { type Found, findRejection, keptReferences, lacksTarget, ownTargets, type Referring } from './references.ts';
import { type Owners, reservedIssue } from './reservedNames.ts';

/** What the check of a batch needs of its import. */
type CheckContext = Pick<ImportContext, 'store' | 'removed' | 'reservedNames' | 'rules'>;

/** A completed record with everything that it refers to. */
interface Subject extends Referring {
  readonly reserved: RecordIssue | undefined;
  readonly gift: Gift | undefined;
}

/** Checks the records of a batch in their order, in a constant number of reads per 2,000 references. */
export async function checkBatch(context: CheckContext, plans: readonly RecordPlan[]): Promise<BatchRecord[]> {
  const { store, removed, reservedNames, rules } = context;
  const owners = await reservedNames.findOwners(plans);
  const checked: BatchRecord[] = [];
  const isNew = (stored: StoredDocument | undefined) => stored === undefined || isCreatedByCall(rules, stored);
  for await (const part of inParts(await completeRecords(store, plans), owners)) {
    const found = await readFound(store, unsettled(part), removed);
    for (const record of part) checked.push(isSettled(record) ? record : checkRecord(record, found, isNew));
  }
  return checked;
}

/** The number of references that are checked in one turn of the event loop and held in memory: a batch may have 300,000. */
const REFERENCES_AT_ONCE = 2_000;

async function* inParts(
  records: readonly (Completed | Settled)[],
  owners: Owners,
): AsyncGenerator<readonly (Subject | Settled)[]> {
  let part: (Subject | Settled)[] = [];
  let size = 0;
  for (const record of records) {
    const subject = isSettled(record) ? record : toSubject(record, owners);
    part.push(subject);
    size += isSettled(subject) ? 0 : subject.references.length;
    if (size < REFERENCES_AT_ONCE) continue;
    yield part;
    await yieldToEventLoop();
    part = [];
    size = 0;
  }
  yield part;
}

function toSubject({ plan, warnings }: Completed, owners: Owners): Subject {
  const references = planReferences(plan.record);
  return { plan, warnings, references, reserved: reservedIssue(plan, owners), gift: giftOf(plan.record) };
}

/** Reads the documents that records refer to. Those that the removal of an organisation deletes count as missing. */
async function readFound(reader: Reader, subjects: readonly Subject[], removed: ReadonlySet<string>): Promise<Found> {
  const references = subjects.flatMap((subject) => subject.references);
  // Bodies may be large. Only checks and the comparison of parents need them.
  const isInspected = ({ reference }: Referring['references'][number]) =>
    reference.check !== undefined || reference.isParent === true;
  const inspected = references.filter(isInspected).map(({ key }) => key);
  const others = references.filter((reference) => !isInspected(reference)).map(({ key }) => key);
  const permits = references.flatMap(({ permit }) => permit ?? []);
  const targets = subjects.flatMap(({ gift }) => gift?.target ?? []);
  const [existing, whole] = await Promise.all([
    readByPath(reader, [...others, ...permits, ...targets], ['orgId', 'partition', 'createdAt']),
    readByPath(reader, inspected, ['orgId', 'partition', 'createdAt', 'digest', 'state', 'body']),
  ]);
  return new Map([...existing, ...whole].filter(([, target]) => !isRemoved(target, removed)));
}

/** Whether the removal of an organisation deletes a target: one of its own, or a project grant to it. */
function isRemoved(target: StoredDocument | undefined, removed: ReadonlySet<string>): boolean {
  if (target === undefined || removed.size === 0) return false;
  if (removed.has(target.orgId ?? '')) return true;
  if (!isInSection(target.partition, projectGrantSection)) return false;
  return removed.has(textAt(parseObject(target.body), 'projectGrant.grantedOrgId', ''));
}

/**
 * Checks a record. Its warnings are about fields that the import changes, targets that are missing, and those for which it
 * is not carried.
 * @param isNew whether a document did not exist before the import
 */
function checkRecord(
  subject: Subject,
  found: Found,
  isNew: (stored: StoredDocument | undefined) => boolean,
): BatchRecord {
  const referring = withoutMissingRoles(subject, found);
  const rejection = subject.plan.rejection ?? findRejection(referring, found);
  if (rejection === 'notCarried') {
    const warnings = [...subject.warnings, ...ownTargets(referring, found)];
    return { plan: subject.plan, outcome: withWarnings({ kind: rejection }, warnings) };
  }
  if (rejection !== undefined && lacksTarget(referring, found))
    return { plan: subject.plan, outcome: failed(rejection) };
  const { reserved, gift } = subject;
  const privilege: Privilege | undefined = gift && {
    given: gift.given,
    texts: gift.texts,
    existed: !isNew(found.get(documentPath(gift.target))),
  };
  const kept = keptReferences(referring, found);
  return { plan: referring.plan, warnings: [...referring.warnings, ...kept], reserved, rejection, privilege };
}
