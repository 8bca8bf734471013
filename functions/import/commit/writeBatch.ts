import { changeDate } from '../../../shared/store/lastChange.ts';
import { type StoredDocument, WriteConflictError } from '../../../shared/store/store.ts';
import { checkBatch } from '../check/checkBatch.ts';
import type { ImportContext } from '../context.ts';
import { decide, nothingStored } from '../decide/decide.ts';
import { readBatch } from '../read/readBatch.ts';
import { findRemovedMembers } from '../read/removedMembers.ts';
import { domainVersionWrites } from '../read/reservedNames.ts';
import { type BatchRecord, type Decided, type Planned, type Settled, unsettled } from '../stages.ts';
import { BatchPasswords } from './batchPasswords.ts';

/**
 * Checks the records of a batch, determines their outcomes, and writes them. Returns the outcomes in the order of the
 * records. First tries to create all records without reading. If a record exists, reads the stored records and
 * determines the outcomes again. Writes each record and the documents that reserve its unique names in the same commit.
 */
export async function writeBatch(context: ImportContext, plans: readonly Planned[]): Promise<readonly Settled[]> {
  const passwords = new BatchPasswords(context.bcryptCost, context.signal);
  const batch = context.state.pace.readsFirst ? undefined : await checkBatch(context, plans);
  const creation = batch && (await decideCreation(context, batch, passwords));
  const isDone = creation !== undefined && (await isCommitted(context, creation));
  const { records } = isDone ? creation : await decideStored(context, plans, passwords, batch, creation);
  context.state.created.add(records);
  return records;
}

/**
 * Determines the outcomes of a batch's records as if the database were empty. Returns undefined if a record would have
 * any other outcome than `created`.
 */
async function decideCreation(
  { rules, state }: ImportContext,
  batch: readonly BatchRecord[],
  passwords: BatchPasswords,
): Promise<Decided | undefined> {
  const checked = unsettled(batch);
  if (checked.some(({ plan }) => plan.rejection !== undefined)) return undefined;
  const decided = decide(batch, nothingStored, rules, state.stamps.next());
  const areCreated = decided.records.every(
    (record, index) => record === batch[index] || record.outcome.kind === 'created',
  );
  return areCreated ? await passwords.complete(decided) : undefined;
}

/**
 * Commits the creation of records. Returns false if a record exists, one of its names is taken, a member was removed,
 * or a name is reserved.
 */
async function isCommitted(
  { store, beginning, state, signal }: ImportContext,
  { records, writes }: Decided,
): Promise<boolean> {
  if (writes.length === 0) return true;
  try {
    return await store.transaction(async (transaction) => {
      const plans = records.map(({ plan }) => plan);
      const [removed, reserved] = await Promise.all([
        findRemovedMembers(transaction, plans, beginning.memberRemovals),
        state.reservedNames.find(transaction, plans),
      ]);
      const isAllowed = removed.size + reserved.size === 0;
      if (isAllowed) transaction.write([...writes, ...domainVersionWrites(records)]);
      return isAllowed;
    }, signal);
  } catch (error) {
    if (error instanceof WriteConflictError) return false;
    throw error;
  }
}

/**
 * Determines the outcomes of a batch's records from the stored records, and commits the batch. If another call changes
 * the stored records before the commit, repeats the reads and decisions, until the signal aborts. Checks references
 * only once, because no other call can delete their targets while the import holds the instance's lock.
 * @param checked the checked batch, if an earlier attempt has checked it
 * @param creation an earlier attempt, which the database may have committed
 */
async function decideStored(
  context: ImportContext,
  plans: readonly Planned[],
  passwords: BatchPasswords,
  checked: readonly BatchRecord[] | undefined,
  creation: Decided | undefined,
): Promise<Decided> {
  const { store, rules, signal, mirror } = context;
  const { stamps, pace } = context.state;
  let checking = checked && Promise.resolve(checked);
  const check = () => {
    checking ??= checkBatch(context, plans);
    return checking;
  };
  const committed = await store.transaction<Decided>(async (transaction, earlier) => {
    const { batch, stored } = await readBatch(transaction, context, plans, check, passwords);
    const attempts = creation === undefined ? earlier : [creation, ...earlier];
    const written = findCommitted(attempts, stored.documents);
    if (written !== undefined) return written;
    const decided = await passwords.complete(decide(batch, stored, rules, stamps.next()));
    const freed = decided.freed.flatMap((path) => stored.freed.get(path) ?? []);
    if (freed.length > 0) await mirror?.onFreeing(transaction, freed);
    transaction.write([...decided.writes, ...domainVersionWrites(decided.records)]);
    return decided;
  }, signal);
  for (const path of committed.freed) mirror?.onFreed(path);
  for (const grant of committed.early) mirror?.deletions.deleteEarly(grant);
  const batch = await check();
  const decided = committed.records.filter((record, index) => record !== batch[index]);
  if (decided.length > 0) pace.readsFirst = decided.some(({ outcome }) => outcome.kind !== 'created');
  return committed;
}

/**
 * Finds an attempt to write the batch that the database committed although the response was lost. A further attempt
 * could have another outcome, because the committed attempt has changed which names are free.
 */
function findCommitted(
  attempts: readonly Decided[],
  documents: ReadonlyMap<string, StoredDocument>,
): Decided | undefined {
  if (attempts.length === 0) return undefined;
  const dates = new Set([...documents.values()].flatMap((stored) => [stored.createdAt, changeDate(stored)]));
  return attempts.find(({ stamp }) => dates.has(stamp));
}
