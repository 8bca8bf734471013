import type { RecordPlan } from '../../../shared/organisation/recordPlan.ts';
import { type StoredDocument, WriteConflictError } from '../../../shared/store/store.ts';
import { checkBatch } from '../check/checkBatch.ts';
import type { ImportContext } from '../context.ts';
import { decide, type StoredBatch } from '../decide/decide.ts';
import { type BatchRecord, type Decided, isSettled, type Settled, unsettled } from '../stages.ts';
import { BatchPasswords } from './passwords.ts';
import { readStored } from './readStored.ts';
import { findRemovedMembers, isRemovable } from './removedMembers.ts';

/**
 * Checks, decides and writes a batch, and returns its outcomes in order. Records are created without reading first; if one
 * of them exists, the batch is decided by what is stored. A record and its claims are written atomically.
 */
export async function writeBatch(context: ImportContext, plans: readonly RecordPlan[]): Promise<readonly Settled[]> {
  const batch = await checkBatch(context, plans);
  if (batch.every(isSettled)) return batch;
  const { pace, passwordHashing, signal } = context;
  const passwords = new BatchPasswords(passwordHashing, signal);
  const creation = pace.readsFirst ? undefined : await decideCreation(context, batch, passwords);
  if (creation !== undefined && (await isCommitted(context, creation))) return creation.records;
  const { records } = await decideStored(context, batch, passwords, creation === undefined ? [] : [creation]);
  const decided = records.filter((record, index) => record !== batch[index]);
  pace.readsFirst = decided.some(({ outcome }) => outcome.kind !== 'created');
  return records;
}

const NOTHING_STORED: Omit<StoredBatch, 'passwordHashes'> = {
  documents: new Map(),
  changed: new Set(),
  equal: new Set(),
  forbidden: new Map(),
};

/** Decides a batch as if nothing were stored; returns nothing if some record would then not be created. */
async function decideCreation(
  { rules, stamps }: ImportContext,
  batch: readonly BatchRecord[],
  passwords: BatchPasswords,
): Promise<Decided | undefined> {
  const checked = unsettled(batch);
  if (checked.some(({ reserved, rejection }) => reserved !== undefined || rejection !== undefined)) return undefined;
  const passwordHashes = await passwords.hash(checked.map(({ plan }) => plan));
  const stored = { ...NOTHING_STORED, passwordHashes };
  const decided = decide(batch, stored, rules, stamps.next());
  const areCreated = decided.records.every(
    (record, index) => record === batch[index] || record.outcome.kind === 'created',
  );
  return areCreated ? decided : undefined;
}

/** Commits the creation of records; returns whether no record and none of its claims existed, and no member was removed. */
async function isCommitted(
  { store, memberRemovals, signal }: ImportContext,
  { records, writes }: Decided,
): Promise<boolean> {
  const removable = records.map(({ plan }) => plan).filter(isRemovable);
  try {
    if (removable.length > 0)
      return await store.transaction(async (transaction) => {
        const removed = await findRemovedMembers(transaction, removable, memberRemovals);
        if (removed.size === 0) transaction.write(writes);
        return removed.size === 0;
      }, signal);
    await store.commit(writes);
    return true;
  } catch (error) {
    if (error instanceof WriteConflictError) return false;
    throw error;
  }
}

/**
 * Decides a batch by what is stored, and commits it. If another call changes what was read, the batch is read and decided
 * again, until the deadline.
 * @param attempts the attempts so far
 */
function decideStored(
  context: ImportContext,
  batch: readonly BatchRecord[],
  passwords: BatchPasswords,
  attempts: readonly Decided[],
): Promise<Decided> {
  const { store, rules, stamps, signal } = context;
  return store.transaction<Decided>(async (transaction, earlier) => {
    const stored = await readStored(transaction, context, batch, passwords);
    const committed = findCommitted([...attempts, ...earlier], stored.documents);
    if (committed !== undefined) return committed;
    const decided = decide(batch, stored, rules, stamps.next());
    transaction.write(decided.writes);
    return decided;
  }, signal);
}

/**
 * Finds the attempt that wrote a stored record: only its response was lost. A new decision could differ, because the names
 * that its records gave up are free.
 */
function findCommitted(
  attempts: readonly Decided[],
  documents: ReadonlyMap<string, StoredDocument>,
): Decided | undefined {
  const stamps = new Map(attempts.map((attempt) => [attempt.stamp, attempt]));
  for (const { createdAt = '', changedAt = '' } of stamps.size === 0 ? [] : documents.values()) {
    const committed = stamps.get(createdAt) ?? stamps.get(changedAt);
    if (committed !== undefined) return committed;
  }
  return undefined;
}
