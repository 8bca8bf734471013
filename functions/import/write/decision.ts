import { createRecord, documentPath, type RecordPlan } from '../../../shared/organisation/recordPlan.ts';
import { sectionPartition } from '../../../shared/organisation/section.ts';
import type { DocumentKey, StoredDocument, Transaction, Write } from '../../../shared/store/store.ts';
import type { OnConflict } from '../contract.ts';
import { type BatchContext, isOfThisImport, isWritten, type Outcome } from './batchContext.ts';
import { canOverwrite, comparedFields, heldNames, isEqual, overwriteRecord, overwrittenFields } from './comparison.ts';

/** What becomes of a record, and the write that makes it so: none where an earlier attempt of the same batch wrote it. */
interface Decision {
  readonly outcome: Outcome;
  readonly write: 'create' | 'overwrite' | undefined;
}

/**
 * Decides a batch record by record, in one transaction.
 * @param hashed the records as they are compared, each with the record to write
 * @param stamp the date of creation or change that this batch stores
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
    for (const [plan, hashedPlan] of hashed) {
      const owner = documentPath(plan.key);
      const stored = present.get(owner);
      const decision = await decideRecord(context, plan, stored, names, written.has(owner) ? undefined : stamp);
      outcomes.set(plan, decision.outcome);
      if (isWritten(decision.outcome)) written.add(owner);
      const write = toWrite(decision, hashedPlan, stored, stamp);
      if (write === undefined) continue;
      transaction.write([write]);
      for (const key of releasedNames(decision, plan, stored)) names.release(key, owner);
      for (const { key } of plan.claims) names.take(key, { orgId: plan.record.orgId, ownerId: owner });
      present.set(owner, { id: plan.key.id, ...createRecord(hashedPlan, stamp).fields });
    }
    transaction.write(names.writes());
    return outcomes;
  });
}

/** Reads what is stored under the records' keys and names, by `ownerOf` the key. */
async function readPresent(
  transaction: Transaction,
  plans: readonly RecordPlan[],
  onConflict: OnConflict,
): Promise<Map<string, StoredDocument>> {
  const present = new Map<string, StoredDocument>();
  const read = async (keys: readonly DocumentKey[], fields: Parameters<Transaction['getMany']>[1]) => {
    const documents = await transaction.getMany(keys, fields);
    for (const [index, key] of keys.entries()) {
      const document = documents[index];
      if (document !== undefined) present.set(documentPath(key), document);
    }
  };
  const overwriting = onConflict === 'overwrite';
  const keys = plans.flatMap(({ key, claims }) => [key, ...claims.map((claim) => claim.key)]);
  await read(keys, [...comparedFields, 'ownerId', ...(overwriting ? overwrittenFields : [])]);
  if (!overwriting) return present;
  const held = plans.flatMap((plan) => heldNames(plan, present.get(documentPath(plan.key))));
  const others = held.filter((key) => !present.has(documentPath(key)));
  if (others.length > 0) await read(others, ['orgId', 'ownerId']);
  return present;
}

/**
 * Decides one record.
 * @param ownStamp what an earlier attempt of this batch would have stored; undefined where the batch has the record twice
 */
async function decideRecord(
  context: BatchContext,
  plan: RecordPlan,
  stored: StoredDocument | undefined,
  names: ClaimLedger,
  ownStamp: string | undefined,
): Promise<Decision> {
  if (stored === undefined) return unlessTaken(plan, names, { outcome: { kind: 'created' }, write: 'create' });
  const equal = await isEqual(plan.record, stored);
  if (equal && stored.createdAt === ownStamp) return without({ kind: 'created' });
  if (equal && stored.changedAt === ownStamp) return without({ kind: 'overwritten' });
  if (isOfThisImport(context, stored)) return exists(plan);
  if (equal) return without({ kind: 'unchanged' });
  return decideConflict(context.onConflict, plan, stored, names);
}

/** A record of another organisation or section under the same id is a different record, and always reported. */
function decideConflict(
  onConflict: OnConflict,
  plan: RecordPlan,
  stored: StoredDocument,
  names: ClaimLedger,
): Decision {
  const { record } = plan;
  const isSame = stored.partition === sectionPartition(record.orgId, record.section);
  if (!isSame || onConflict === 'report') return exists(plan);
  if (onConflict === 'skip') return without({ kind: 'skipped' });
  if (!canOverwrite(plan, stored)) return exists(plan);
  return unlessTaken(plan, names, { outcome: { kind: 'overwritten' }, write: 'overwrite' });
}

function unlessTaken(plan: RecordPlan, names: ClaimLedger, decision: Decision): Decision {
  const owner = documentPath(plan.key);
  const claim = plan.claims.find(({ key }) => names.isHeldByAnother(key, owner));
  return claim === undefined ? decision : without({ kind: 'failed', issue: claim.taken });
}

function exists({ record }: RecordPlan): Decision {
  return without({ kind: 'failed', issue: record.section.error.exists });
}

function without(outcome: Outcome): Decision {
  return { outcome, write: undefined };
}

function toWrite(
  { write }: Decision,
  plan: RecordPlan,
  stored: StoredDocument | undefined,
  stamp: string,
): Write | undefined {
  if (write === 'create') return createRecord(plan, stamp);
  return write === 'overwrite' && stored !== undefined ? overwriteRecord(plan, stored, stamp) : undefined;
}

function releasedNames({ write }: Decision, plan: RecordPlan, stored: StoredDocument | undefined): DocumentKey[] {
  return write === 'overwrite' ? heldNames(plan, stored) : [];
}

interface Holder {
  readonly orgId: string;
  readonly ownerId: string;
}

/** Who holds which unique name while a transaction decides, and the writes that make it so. */
export class ClaimLedger {
  private readonly before: ReadonlyMap<string, StoredDocument>;
  private readonly after = new Map<string, { key: DocumentKey; holder: Holder | undefined }>();

  /** @param before the claims that are stored, by `ownerOf` their keys */
  constructor(before: ReadonlyMap<string, StoredDocument>) {
    this.before = before;
  }

  /** Whether anyone but `ownerId` holds the name. */
  isHeldByAnother(key: DocumentKey, ownerId: string): boolean {
    const holder = this.findHolder(key);
    return holder !== undefined && holder !== ownerId;
  }

  take(key: DocumentKey, holder: Holder): void {
    this.after.set(documentPath(key), { key, holder });
  }

  /** Frees a name, if `ownerId` holds it. */
  release(key: DocumentKey, ownerId: string): void {
    if (this.findHolder(key) === ownerId) this.after.set(documentPath(key), { key, holder: undefined });
  }

  /** One write at most for each name. */
  writes(): Write[] {
    return [...this.after].flatMap(([name, { key, holder }]): Write[] => {
      const stored = this.before.get(name);
      if (holder === undefined) return stored === undefined ? [] : [{ type: 'delete', key }];
      if (stored === undefined) return [{ type: 'create', key, fields: { ...holder } }];
      return stored.ownerId === holder.ownerId ? [] : [{ type: 'update', key, fields: { ...holder } }];
    });
  }

  private findHolder(key: DocumentKey): string | undefined {
    const name = documentPath(key);
    const changed = this.after.get(name);
    return changed === undefined ? this.before.get(name)?.ownerId : changed.holder?.ownerId;
  }
}
