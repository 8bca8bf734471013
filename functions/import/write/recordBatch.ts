import { hashPassword } from '../../../shared/auth/password.ts';
import { createWrites, ownerOf, type RecordPlan } from '../../../shared/organisation/recordPlan.ts';
import { type DocumentStore, type StoredDocument, WriteConflict } from '../../../shared/store/store.ts';
import { type BatchContext, isOfThisImport, nextStamp, type Outcome } from './batchContext.ts';
import { comparedFields, hasSameContent, isEqual } from './comparison.ts';
import { decideBatch } from './decision.ts';
import { checkReferences } from './references.ts';

const CREATED: Outcome = { kind: 'created' };
const UNCHANGED: Outcome = { kind: 'unchanged' };

/**
 * Writes records and tells what became of each, in their order. New records are created without reading first; where
 * one meets what is there already, the batch is decided record by record in a transaction. A record is written with all
 * its claims or not at all.
 */
export async function writeBatch(context: BatchContext, plans: readonly RecordPlan[]): Promise<Outcome[]> {
  const [ruledOut, reserved] = await Promise.all([
    checkReferences(context.store, plans),
    context.reservedNames.check(plans),
  ]);
  const outcomes = new Map<RecordPlan, Outcome>(ruledOut);
  for (const [plan, fault] of reserved) outcomes.set(plan, { kind: 'failed', fault });
  const open = () => plans.filter((plan) => !outcomes.has(plan));
  const meets = context.expectExisting && (await findUnchanged(context, open(), outcomes));
  const stamp = nextStamp(context);
  const hashed = await withHashedPasswords(open());
  if (meets || !(await tryCreate(context.store, [...hashed.values()], stamp)))
    for (const [plan, outcome] of await decideBatch(context, hashed, stamp)) outcomes.set(plan, outcome);
  const told = plans.map((plan) => outcomes.get(plan) ?? CREATED);
  context.expectExisting = told.some(({ kind }) => kind !== 'created');
  return told;
}

/** Creates all records in one commit; false when one of them, or one of their names, is there already. */
async function tryCreate(store: DocumentStore, plans: readonly RecordPlan[], stamp: string): Promise<boolean> {
  const writes = plans.flatMap((plan) => createWrites(plan, stamp));
  if (new Set(writes.map(({ key }) => ownerOf(key))).size < writes.length) return false;
  try {
    await store.commit(writes);
    return true;
  } catch (error) {
    if (error instanceof WriteConflict) return false;
    throw error;
  }
}

/** Finds the records that are there as they are; returns whether others of them are there with other content. */
async function findUnchanged(
  context: BatchContext,
  plans: readonly RecordPlan[],
  outcomes: Map<RecordPlan, Outcome>,
): Promise<boolean> {
  const stored = await context.store.getMany(
    plans.map(({ key }) => key),
    comparedFields,
  );
  const compare = async (plan: RecordPlan, document: StoredDocument) => {
    if (await isEqual(plan.record, document)) outcomes.set(plan, UNCHANGED);
  };
  const compared: Promise<void>[] = [];
  const present = plans.filter((_plan, index) => stored[index] !== undefined);
  for (const [index, plan] of plans.entries()) {
    const document = stored[index];
    if (document === undefined || isOfThisImport(context, document)) continue;
    // A promise for each record is dear in Cloud Functions, so only those that need one have it.
    if (plan.record.clearPassword !== undefined) compared.push(compare(plan, document));
    else if (hasSameContent(plan.record, document)) outcomes.set(plan, UNCHANGED);
  }
  await Promise.all(compared);
  return present.some((plan) => !outcomes.has(plan));
}

async function withHashedPasswords(plans: readonly RecordPlan[]): Promise<Map<RecordPlan, RecordPlan>> {
  const hashed = new Map(plans.map((plan) => [plan, plan]));
  const clear = plans.filter(({ record }) => record.clearPassword !== undefined);
  await Promise.all(clear.map(async (plan) => hashed.set(plan, await withHashedPassword(plan))));
  return hashed;
}

async function withHashedPassword(plan: RecordPlan): Promise<RecordPlan> {
  const { record } = plan;
  if (record.clearPassword === undefined) return plan;
  const credentials = { ...record.credentials, passwordHash: await hashPassword(record.clearPassword) };
  return { ...plan, record: { ...record, credentials } };
}
