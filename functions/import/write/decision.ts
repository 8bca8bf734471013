import { createRecord, type RecordPlan } from '../../../shared/organisation/recordPlan.ts';
import { sectionPartition } from '../../../shared/organisation/section.ts';
import type { DocumentKey, StoredDocument, Transaction, Write } from '../../../shared/store/store.ts';
import { documentPath } from '../../../shared/store/store.ts';
import type { OnConflict } from '../contract.ts';
import { type BatchContext, isOfThisImport, isWritten, type Outcome } from './batchContext.ts';
import { canOverwrite, comparedFields, heldClaims, isEqual, overwriteRecord, overwrittenFields } from './comparison.ts';

/** A record's outcome and its write, which is undefined if an earlier attempt of the same batch wrote the record. */
interface Decision {
  readonly outcome: Outcome;
  readonly write: 'create' | 'overwrite' | undefined;
}

/**
 * Decides a batch record by record, in one transaction.
 * @param hashed the records to compare, each with the record to write, whose password is hashed
 * @param stamp the creation and change date of the batch's records
 */
export function decideBatch(
  context: BatchContext,
  hashed: ReadonlyMap<RecordPlan, RecordPlan>,
  stamp: string,
): Promise<Map<RecordPlan, Outcome>> {
  return context.store.transaction(async (transaction) => {
    const documents = await readStored(transaction, [...hashed.keys()], context.onConflict);
    const ledger = new ClaimLedger(documents);
    const outcomes = new Map<RecordPlan, Outcome>();
    const written = new Set<string>();
    for (const [plan, hashedPlan] of hashed) {
      const owner = documentPath(plan.key);
      const stored = documents.get(owner);
      const decision = await decideRecord(context, plan, stored, ledger, written.has(owner) ? undefined : stamp);
      outcomes.set(plan, decision.outcome);
      if (isWritten(decision.outcome)) written.add(owner);
      const write = toWrite(decision, hashedPlan, stored, stamp);
      if (write === undefined) continue;
      transaction.write([write]);
      for (const key of releasedClaims(decision, plan, stored)) ledger.release(key, owner);
      for (const { key } of plan.claims) ledger.take(key, { orgId: plan.record.orgId, ownerId: owner });
      documents.set(owner, { id: plan.key.id, ...createRecord(hashedPlan, stamp).fields });
    }
    transaction.write(ledger.writes());
    return outcomes;
  });
}

/** Reads the documents stored under the records' keys and claims, by `documentPath`. */
async function readStored(
  transaction: Transaction,
  plans: readonly RecordPlan[],
  onConflict: OnConflict,
): Promise<Map<string, StoredDocument>> {
  const stored = new Map<string, StoredDocument>();
  const read = async (keys: readonly DocumentKey[], fields: Parameters<Transaction['getMany']>[1]) => {
    const documents = await transaction.getMany(keys, fields);
    for (const [index, key] of keys.entries()) {
      const document = documents[index];
      if (document !== undefined) stored.set(documentPath(key), document);
    }
  };
  const overwriting = onConflict === 'overwrite';
  const keys = plans.flatMap(({ key, claims }) => [key, ...claims.map((claim) => claim.key)]);
  await read(keys, [...comparedFields, 'ownerId', ...(overwriting ? overwrittenFields : [])]);
  if (!overwriting) return stored;
  const held = plans.flatMap((plan) => heldClaims(plan, stored.get(documentPath(plan.key))));
  const unread = held.filter((key) => !stored.has(documentPath(key)));
  if (unread.length > 0) await read(unread, ['orgId', 'ownerId']);
  return stored;
}

/**
 * Decides one record.
 * @param ownStamp the date that an earlier attempt of this batch stored; undefined for a duplicate in the batch
 */
async function decideRecord(
  context: BatchContext,
  plan: RecordPlan,
  stored: StoredDocument | undefined,
  ledger: ClaimLedger,
  ownStamp: string | undefined,
): Promise<Decision> {
  if (stored === undefined) return failIfTaken(plan, ledger, { outcome: { kind: 'created' }, write: 'create' });
  const equal = await isEqual(plan.record, stored);
  if (equal && stored.createdAt === ownStamp) return withoutWrite({ kind: 'created' });
  if (equal && stored.changedAt === ownStamp) return withoutWrite({ kind: 'overwritten' });
  if (isOfThisImport(context, stored)) return failExisting(plan);
  if (equal) return withoutWrite({ kind: 'unchanged' });
  return decideConflict(context.onConflict, plan, stored, ledger);
}

/** Decides a record that exists with other content. Under another organisation or section it is always reported. */
function decideConflict(
  onConflict: OnConflict,
  plan: RecordPlan,
  stored: StoredDocument,
  ledger: ClaimLedger,
): Decision {
  const { record } = plan;
  const isSameRecord = stored.partition === sectionPartition(record.orgId, record.section);
  if (!isSameRecord || onConflict === 'report') return failExisting(plan);
  if (onConflict === 'skip') return withoutWrite({ kind: 'skipped' });
  if (!canOverwrite(plan, stored)) return failExisting(plan);
  return failIfTaken(plan, ledger, { outcome: { kind: 'overwritten' }, write: 'overwrite' });
}

function failIfTaken(plan: RecordPlan, ledger: ClaimLedger, decision: Decision): Decision {
  const owner = documentPath(plan.key);
  const claim = plan.claims.find(({ key }) => ledger.isHeldByAnother(key, owner));
  return claim === undefined ? decision : withoutWrite({ kind: 'failed', issue: claim.taken });
}

function failExisting({ record }: RecordPlan): Decision {
  return withoutWrite({ kind: 'failed', issue: record.section.error.exists });
}

function withoutWrite(outcome: Outcome): Decision {
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

function releasedClaims({ write }: Decision, plan: RecordPlan, stored: StoredDocument | undefined): DocumentKey[] {
  return write === 'overwrite' ? heldClaims(plan, stored) : [];
}

interface Holder {
  readonly orgId: string;
  readonly ownerId: string;
}

/** The holders of unique names during a transaction, and the writes that apply their changes. */
export class ClaimLedger {
  private readonly before: ReadonlyMap<string, StoredDocument>;
  private readonly after = new Map<string, { key: DocumentKey; holder: Holder | undefined }>();

  /** @param before the stored claims, by `documentPath` */
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

  /** Releases a name, if `ownerId` holds it. */
  release(key: DocumentKey, ownerId: string): void {
    if (this.findHolder(key) === ownerId) this.after.set(documentPath(key), { key, holder: undefined });
  }

  /** Returns the writes that apply the changes, at most one per name. */
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
