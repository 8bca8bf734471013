import { createRecord, ownerOf, type RecordPlan } from '../../../shared/organisation/recordPlan.ts';
import { partitionOf, type RecordFault } from '../../../shared/organisation/section.ts';
import type { StoredDocument, Transaction } from '../../../shared/store/store.ts';
import { canOverwrite, comparedFields, heldNames, isEqual, overwriteRecord, overwrittenFields } from './comparison.ts';
import { ClaimLedger } from './names.ts';
import { type BatchContext, isOfThisImport } from './recordBatch.ts';

/** What became of a record; `skipped` and `overwritten` are those that were there with other content. */
export type Outcome =
  | { readonly kind: 'created' | 'unchanged' | 'overwritten' | 'skipped' | 'notCarried' }
  | { readonly kind: 'failed'; readonly fault: RecordFault };

/** Whether a record was written by this import. */
export function isWritten({ kind }: Outcome): boolean {
  return kind === 'created' || kind === 'overwritten';
}

/** What happens to a record that is there with other content. */
export type OnConflict = 'report' | 'skip' | 'overwrite';

const CREATED: Outcome = { kind: 'created' };
const OVERWRITTEN: Outcome = { kind: 'overwritten' };
/** Of records that an earlier attempt of the same batch wrote, whose answer got lost. */
const CREATED_BEFORE: Outcome = { kind: 'created' };
const OVERWRITTEN_BEFORE: Outcome = { kind: 'overwritten' };

/**
 * Decides a batch record by record, in one transaction.
 * @param hashed the records as they are compared, each with what is written of it
 * @param stamp what this batch stores as its records' date of creation or change
 */
export function decideBatch(
  context: BatchContext,
  hashed: ReadonlyMap<RecordPlan, RecordPlan>,
  stamp: string,
): Promise<Map<RecordPlan, Outcome>> {
  return context.store.transaction(async (transaction) => {
    const present = await readPresent(transaction, [...hashed.keys()], context.onConflict);
    const names = new ClaimLedger(present);
    const outcomes = new Map<RecordPlan, Outcome>();
    const written = new Set<string>();
    for (const [plan, toWrite] of hashed) {
      const owner = ownerOf(plan.key);
      const outcome = await decideRecord(context, plan, present, names, written.has(owner) ? undefined : stamp);
      outcomes.set(plan, outcome);
      if (isWritten(outcome)) written.add(owner);
      const write = writeOf(outcome, toWrite, present.get(owner), stamp);
      if (write === undefined) continue;
      transaction.write([write]);
      for (const key of releasedNames(outcome, plan, present.get(owner))) names.release(key, owner);
      for (const { key } of plan.claims) names.take(key, { orgId: plan.record.orgId, ownerId: owner });
      present.set(owner, { id: plan.key.id, ...createRecord(toWrite, stamp).fields });
    }
    transaction.write(names.writes());
    return outcomes;
  });
}

/** What is stored under the records' keys and names, by `ownerOf` the key. */
async function readPresent(
  transaction: Transaction,
  plans: readonly RecordPlan[],
  onConflict: OnConflict,
): Promise<Map<string, StoredDocument>> {
  const present = new Map<string, StoredDocument>();
  const read = async (keys: readonly RecordPlan['key'][], fields: Parameters<Transaction['getMany']>[1]) => {
    const documents = await transaction.getMany(keys, fields);
    for (const [index, key] of keys.entries()) {
      const document = documents[index];
      if (document !== undefined) present.set(ownerOf(key), document);
    }
  };
  const overwriting = onConflict === 'overwrite';
  const keys = plans.flatMap(({ key, claims }) => [key, ...claims.map((claim) => claim.key)]);
  await read(keys, [...comparedFields, 'ownerId', ...(overwriting ? overwrittenFields : [])]);
  if (!overwriting) return present;
  const held = plans.flatMap((plan) => releasedNames(OVERWRITTEN, plan, present.get(ownerOf(plan.key))));
  const others = held.filter((key) => !present.has(ownerOf(key)));
  if (others.length > 0) await read(others, ['orgId', 'ownerId']);
  return present;
}

/** `ownStamp` is what an earlier attempt of this batch would have stored; undefined where the batch has the record twice. */
async function decideRecord(
  context: BatchContext,
  plan: RecordPlan,
  present: ReadonlyMap<string, StoredDocument>,
  names: ClaimLedger,
  ownStamp: string | undefined,
): Promise<Outcome> {
  const owner = ownerOf(plan.key);
  const stored = present.get(owner);
  const taken = plan.claims.find(({ key }) => names.isHeldByAnother(key, owner));
  const unlessTaken = (outcome: Outcome): Outcome =>
    taken === undefined ? outcome : { kind: 'failed', fault: taken.taken };
  if (stored === undefined) return unlessTaken(CREATED);
  const equal = await isEqual(plan.record, stored);
  if (equal && stored.createdAt === ownStamp) return CREATED_BEFORE;
  if (equal && stored.changedAt === ownStamp) return OVERWRITTEN_BEFORE;
  if (isOfThisImport(context, stored)) return exists(plan);
  if (equal) return { kind: 'unchanged' };
  const outcome = onOtherContent(context.onConflict, plan, stored);
  return outcome === OVERWRITTEN ? unlessTaken(OVERWRITTEN) : outcome;
}

/** A record of another organisation or section under the same id is not this one, and always reported. */
function onOtherContent(onConflict: OnConflict, plan: RecordPlan, stored: StoredDocument): Outcome {
  const { record } = plan;
  const isSame = stored.partition === partitionOf(record.orgId, record.section);
  if (!isSame || onConflict === 'report') return exists(plan);
  if (onConflict === 'skip') return { kind: 'skipped' };
  return canOverwrite(plan, stored) ? OVERWRITTEN : exists(plan);
}

function exists({ record }: RecordPlan): Outcome {
  return { kind: 'failed', fault: record.section.error.exists };
}

function writeOf(outcome: Outcome, plan: RecordPlan, stored: StoredDocument | undefined, stamp: string) {
  if (outcome === CREATED) return createRecord(plan, stamp);
  return outcome === OVERWRITTEN && stored !== undefined ? overwriteRecord(plan, stored, stamp) : undefined;
}

function releasedNames(outcome: Outcome, plan: RecordPlan, stored: StoredDocument | undefined) {
  return outcome === OVERWRITTEN && stored?.body !== undefined ? heldNames(plan, stored) : [];
}
