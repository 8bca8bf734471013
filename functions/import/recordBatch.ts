import { hashPassword, verifyPassword } from '../../shared/auth/password.ts';
import type { OrganisationRecord } from '../../shared/contract/record.ts';
import { createWrites, ownerOf, type RecordPlan } from '../../shared/contract/recordPlan.ts';
import type { RecordFault } from '../../shared/contract/section.ts';
import type { FieldName } from '../../shared/store/documentFields.ts';
import { type DocumentKey, type Store, type StoredDocument, WriteConflict } from '../../shared/store/store.ts';
import { checkReferences } from './references.ts';

/** What became of a record. */
export type Outcome =
  | { readonly kind: 'created' | 'unchanged' | 'notCarried' }
  | { readonly kind: 'failed'; readonly fault: RecordFault };

/** What batches of one import share. */
export interface BatchContext {
  readonly store: Store;
  /** The creation date of every record that this import creates, and of no other import. */
  readonly stamp: string;
  /** Whether the last batch met records that are there already, so that looking first is cheaper than trying. */
  expectExisting: boolean;
}

const CREATED: Outcome = { kind: 'created' };
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
  const hashed = new Map(
    await Promise.all(open().map(async (plan) => [plan, await withHashedPassword(plan)] as const)),
  );
  if (!(await tryCreate(context, [...hashed.values()]))) await decide(context, hashed, outcomes);
  context.expectExisting = [...outcomes.values()].some(({ kind }) => kind === 'unchanged');
  return plans.map((plan) => outcomes.get(plan) ?? CREATED);
}

/** Creates all records in one commit; false when one of them, or one of their names, is there already. */
async function tryCreate({ store, stamp }: BatchContext, plans: readonly RecordPlan[]): Promise<boolean> {
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
  { store, stamp }: BatchContext,
  plans: readonly RecordPlan[],
  outcomes: Map<RecordPlan, Outcome>,
): Promise<void> {
  const stored = await store.getMany(
    plans.map(({ key }) => key),
    comparedFields,
  );
  await Promise.all(
    plans.map(async (plan, index) => {
      const document = stored[index];
      if (document !== undefined && document.createdAt !== stamp && (await isEqual(plan.record, document))) {
        outcomes.set(plan, UNCHANGED);
      }
    }),
  );
}

/** Decides record by record in one transaction. */
async function decide(
  { store, stamp }: BatchContext,
  hashed: ReadonlyMap<RecordPlan, RecordPlan>,
  outcomes: Map<RecordPlan, Outcome>,
): Promise<void> {
  const plans = [...hashed.keys()];
  const keys = plans.flatMap(({ key, claims }) => [key, ...claims.map((claim) => claim.key)]);
  const decided = await store.transaction(async (transaction) => {
    const documents = await transaction.getMany(keys, [...comparedFields, 'ownerId']);
    const present = new Map<string, StoredDocument>();
    for (const [index, key] of keys.entries()) {
      const document = documents[index];
      if (document !== undefined) present.set(ownerOf(key), document);
    }
    const results: [RecordPlan, Outcome][] = [];
    for (const [plan, toWrite] of hashed) {
      const outcome = await decideRecord(plan, present, stamp);
      results.push([plan, outcome]);
      if (outcome.kind !== 'created') continue;
      const writes = createWrites(toWrite, stamp);
      transaction.write(writes);
      for (const write of writes)
        if (write.type === 'create') present.set(ownerOf(write.key), { id: write.key.id, ...write.fields });
    }
    return results;
  });
  for (const [plan, outcome] of decided) outcomes.set(plan, outcome);
}

async function decideRecord(
  { record, key, claims }: RecordPlan,
  present: ReadonlyMap<string, StoredDocument>,
  stamp: string,
): Promise<Outcome> {
  const stored = present.get(ownerOf(key));
  if (stored !== undefined) {
    const unchanged = stored.createdAt !== stamp && (await isEqual(record, stored));
    return unchanged ? UNCHANGED : { kind: 'failed', fault: record.section.error.exists };
  }
  const taken = claims.find((claim) => heldByAnother(present.get(ownerOf(claim.key)), key));
  return taken === undefined ? CREATED : { kind: 'failed', fault: taken.taken };
}

function heldByAnother(claim: StoredDocument | undefined, key: DocumentKey): boolean {
  return claim !== undefined && claim.ownerId !== ownerOf(key);
}

/** Whether the stored record is the one given. What the given one does not carry is not compared. */
async function isEqual(record: OrganisationRecord, stored: StoredDocument): Promise<boolean> {
  if (stored.digest !== record.digest || stored.orgId !== record.orgId) return false;
  if (record.otpEmail && stored.otpEmail !== true) return false;
  const { passwordHash, totpSeed, clientSecret } = record.credentials;
  if (passwordHash !== undefined && passwordHash !== stored.passwordHash) return false;
  if (totpSeed !== undefined && totpSeed !== stored.totpSeed) return false;
  if (clientSecret !== undefined && clientSecret !== stored.clientSecret) return false;
  return record.clearPassword === undefined || verifyPassword(record.clearPassword, stored.passwordHash ?? '');
}

async function withHashedPassword(plan: RecordPlan): Promise<RecordPlan> {
  const { record } = plan;
  if (record.clearPassword === undefined) return plan;
  const credentials = { ...record.credentials, passwordHash: await hashPassword(record.clearPassword) };
  return { ...plan, record: { ...record, credentials } };
}
