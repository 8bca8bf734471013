import { hashPassword, verifyPassword } from '../../shared/auth/password.ts';
import type { OrganisationRecord } from '../../shared/contract/record.ts';
import { createWrites, ownerOf, type RecordPlan } from '../../shared/contract/recordPlan.ts';
import type { FieldName } from '../../shared/store/documentFields.ts';
import { type DocumentKey, type Store, type StoredDocument, WriteConflict } from '../../shared/store/store.ts';
import type { Outcome } from './outcome.ts';
import { checkReferences } from './references.ts';

/** What batches of one import share. */
export interface BatchContext {
  readonly store: Store;
  /** The creation date of the records that this import creates, and of no other import; each batch adds its number. */
  readonly stamp: string;
  /** How many batches there were. */
  batches: number;
  /** Whether the last batch met records that are there already, so that looking first is cheaper than trying. */
  expectExisting: boolean;
}

const CREATED: Outcome = { kind: 'created' };
/** Of a record that an earlier attempt of the same batch created, whose answer got lost. */
const CREATED_BEFORE: Outcome = { kind: 'created' };
const UNCHANGED: Outcome = { kind: 'unchanged' };
const comparedFields: readonly FieldName[] = [
  'orgId',
  'digest',
  'passwordHash',
  'totpSeed',
  'clientSecret',
  'otpEmail',
  'createdAt',
];

/**
 * Writes records and tells what became of each, in their order. New records are created without reading first; where
 * one meets what is there already, the batch is decided record by record in a transaction. A record is written with all
 * its claims or not at all.
 */
export async function writeBatch(context: BatchContext, plans: readonly RecordPlan[]): Promise<Outcome[]> {
  const outcomes = new Map<RecordPlan, Outcome>(await checkReferences(context.store, plans));
  const open = () => plans.filter((plan) => !outcomes.has(plan));
  if (context.expectExisting) await findUnchanged(context, open(), outcomes);
  const stamp = nextStamp(context);
  const hashed = await withHashedPasswords(open());
  if (!(await tryCreate(context.store, [...hashed.values()], stamp))) await decide(context, hashed, stamp, outcomes);
  context.expectExisting = [...outcomes.values()].some(({ kind }) => kind === 'unchanged');
  return plans.map((plan) => outcomes.get(plan) ?? CREATED);
}

function nextStamp(context: BatchContext): string {
  const number = String(context.batches++ % 1_000).padStart(3, '0');
  return `${prefixOf(context)}${number}Z`;
}

function prefixOf({ stamp }: BatchContext): string {
  return stamp.replace(/Z$/, '');
}

/** Whether the stored record was made by this import, so that another like it is there twice in the document. */
function isOfThisImport(context: BatchContext, { createdAt = '' }: StoredDocument): boolean {
  return createdAt.startsWith(prefixOf(context));
}

/** Creates all records in one commit; false when one of them, or one of their names, is there already. */
async function tryCreate(store: Store, plans: readonly RecordPlan[], stamp: string): Promise<boolean> {
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

async function findUnchanged(
  context: BatchContext,
  plans: readonly RecordPlan[],
  outcomes: Map<RecordPlan, Outcome>,
): Promise<void> {
  const stored = await context.store.getMany(
    plans.map(({ key }) => key),
    comparedFields,
  );
  const compare = async (plan: RecordPlan, document: StoredDocument) => {
    if (await isEqual(plan.record, document)) outcomes.set(plan, UNCHANGED);
  };
  const compared: Promise<void>[] = [];
  for (const [index, plan] of plans.entries()) {
    const document = stored[index];
    if (document === undefined || isOfThisImport(context, document)) continue;
    // A promise for each record is dear in Cloud Functions, so only those that need one have it.
    if (plan.record.clearPassword !== undefined) compared.push(compare(plan, document));
    else if (hasSameContent(plan.record, document)) outcomes.set(plan, UNCHANGED);
  }
  await Promise.all(compared);
}

/** Decides record by record in one transaction. */
async function decide(
  context: BatchContext,
  hashed: ReadonlyMap<RecordPlan, RecordPlan>,
  stamp: string,
  outcomes: Map<RecordPlan, Outcome>,
): Promise<void> {
  const plans = [...hashed.keys()];
  const keys = plans.flatMap(({ key, claims }) => [key, ...claims.map((claim) => claim.key)]);
  const decided = await context.store.transaction(async (transaction) => {
    const documents = await transaction.getMany(keys, [...comparedFields, 'ownerId']);
    const present = new Map<string, StoredDocument>();
    for (const [index, key] of keys.entries()) {
      const document = documents[index];
      if (document !== undefined) present.set(ownerOf(key), document);
    }
    const results: [RecordPlan, Outcome][] = [];
    const seen = new Set<string>();
    for (const [plan, toWrite] of hashed) {
      const isFirst = !seen.has(ownerOf(plan.key));
      const outcome = await decideRecord(plan, present, context, isFirst ? stamp : undefined);
      results.push([plan, outcome]);
      if (outcome.kind === 'created') seen.add(ownerOf(plan.key));
      if (outcome !== CREATED) continue;
      const writes = createWrites(toWrite, stamp);
      transaction.write(writes);
      for (const write of writes)
        if (write.type === 'create') present.set(ownerOf(write.key), { id: write.key.id, ...write.fields });
    }
    return results;
  });
  for (const [plan, outcome] of decided) outcomes.set(plan, outcome);
}

/** `ownStamp` is what an earlier attempt of this batch would have stored; undefined where the batch has the record twice. */
async function decideRecord(
  { record, key, claims }: RecordPlan,
  present: ReadonlyMap<string, StoredDocument>,
  context: BatchContext,
  ownStamp: string | undefined,
): Promise<Outcome> {
  const stored = present.get(ownerOf(key));
  if (stored !== undefined) {
    const equal = await isEqual(record, stored);
    if (equal && stored.createdAt === ownStamp) return CREATED_BEFORE;
    if (equal && !isOfThisImport(context, stored)) return UNCHANGED;
    return { kind: 'failed', fault: record.section.error.exists };
  }
  const taken = claims.find((claim) => heldByAnother(present.get(ownerOf(claim.key)), key));
  return taken === undefined ? CREATED : { kind: 'failed', fault: taken.taken };
}

function heldByAnother(claim: StoredDocument | undefined, key: DocumentKey): boolean {
  return claim !== undefined && claim.ownerId !== ownerOf(key);
}

/** Whether the stored record is the one given. What the given one does not carry is not compared. */
async function isEqual(record: OrganisationRecord, stored: StoredDocument): Promise<boolean> {
  if (!hasSameContent(record, stored)) return false;
  return record.clearPassword === undefined || verifyPassword(record.clearPassword, stored.passwordHash ?? '');
}

/** As `isEqual`, a password in clear left out. */
function hasSameContent(record: OrganisationRecord, stored: StoredDocument): boolean {
  if (stored.digest !== record.digest || stored.orgId !== record.orgId) return false;
  if (record.otpEmail && stored.otpEmail !== true) return false;
  const { passwordHash, totpSeed, clientSecret } = record.credentials;
  if (passwordHash !== undefined && passwordHash !== stored.passwordHash) return false;
  if (totpSeed !== undefined && totpSeed !== stored.totpSeed) return false;
  return clientSecret === undefined || clientSecret === stored.clientSecret;
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
