import { createRecord, type RecordPlan } from '../../../shared/organisation/recordPlan.ts';
import type { RecordIssue } from '../../../shared/organisation/relations.ts';
import { isList } from '../../../shared/organisation/section.ts';
import {
  type DocumentKey,
  documentPath,
  type StoredDocument,
  type Transaction,
  type Write,
} from '../../../shared/store/store.ts';
import type { ImportWarning, OnConflict } from '../contract.ts';
import { isWritten, type Outcome, repetitionIssue } from '../outcome.ts';
import { type BatchContext, isOfThisImport } from './batchContext.ts';
import { ClaimLedger } from './claims.ts';
import {
  type BatchComparison,
  canOverwrite,
  comparedFields,
  heldClaims,
  isSameRecord,
  keepsReservedNames,
  needsBody,
  overwriteRecord,
  overwrittenFields,
} from './comparison.ts';
import { type Privileges, writeWarnings } from './privileges.ts';
import { findProtected } from './protectedRecords.ts';
import { findNarrowed, findRolesInUse, type NarrowedGrant } from './rolesInUse.ts';

/** The records of a batch that are not decided yet. */
export interface UndecidedBatch {
  readonly privileges: Privileges;
  /** The records to compare, each with the record to write, whose password is hashed. */
  readonly records: ReadonlyMap<RecordPlan, RecordPlan>;
  /** The records whose names another organisation reserves, each with its issue. */
  readonly reserved: ReadonlyMap<RecordPlan, RecordIssue>;
  readonly comparison: BatchComparison;
}

/** The records that the import must not write as they are, each with its issue. */
interface Protected {
  readonly protectedRecords: ReadonlyMap<RecordPlan, RecordIssue>;
}

/**
 * A record's outcome and its write, which is undefined if an earlier attempt of the same batch wrote the record. A record
 * to write can still fail for a name.
 */
interface Decision {
  readonly outcome: Outcome;
  readonly write: 'create' | 'overwrite' | undefined;
}

/** A decided batch. */
interface DecidedBatch {
  readonly outcomes: Map<RecordPlan, Outcome>;
  /** The overwritten project grants that have lost roles. */
  readonly narrowed: readonly NarrowedGrant[];
}

/**
 * Decides a batch record by record, in one transaction. A name that a record gives up is free for those after it.
 * @param stamp the creation and change date of the batch's records
 */
export async function decideBatch(context: BatchContext, batch: UndecidedBatch, stamp: string): Promise<DecidedBatch> {
  // Kept between the attempts: one whose commit's response was lost has overwritten what the next one reads.
  const warnings = new Map<RecordPlan, readonly ImportWarning[]>();
  const narrowed = new Map<RecordPlan, NarrowedGrant>();
  const outcomes = await context.store.transaction(async (transaction) => {
    const plans = [...batch.records.keys()];
    const documents = await readStored(transaction, plans, context.onConflict);
    const findStored = (plan: RecordPlan) => documents.get(documentPath(plan.key));
    await batch.comparison.prepare(
      transaction,
      plans.map((plan) => [plan, findStored(plan)]),
    );
    const ledger = new ClaimLedger(documents);
    const grants = context.onConflict === 'overwrite' ? findNarrowed(plans, documents) : [];
    for (const grant of grants) narrowed.set(grant.plan, grant);
    const inUse = await findRolesInUse(context.base, grants);
    const protectedRecords = new Map([...findProtected(context, documents, plans), ...inUse]);
    const outcomes = new Map<RecordPlan, Outcome>();
    const written = new Map<string, RecordPlan>();
    for (const plan of plans) {
      const stored = findStored(plan);
      const first = written.get(documentPath(plan.key));
      const decision =
        first === undefined
          ? decideRecord(context, { ...batch, protectedRecords }, plan, stored, stamp)
          : decideRepetition(plan, plan.record.digest === first.record.digest);
      const taken = decision.write === undefined ? undefined : ledger.claim({ plan, held: heldClaims(plan, stored) });
      const { outcome, write } = taken === undefined ? decision : fail(taken);
      outcomes.set(plan, outcome);
      if (isWritten(outcome)) written.set(documentPath(plan.key), plan);
      if (write === undefined) continue;
      transaction.write(toWrites(batch.records.get(plan) ?? plan, stored, write, stamp));
      warnings.set(plan, writeWarnings(batch.privileges, plan, stored));
    }
    transaction.write(ledger.writes());
    return outcomes;
  });
  for (const [plan, outcome] of outcomes)
    outcomes.set(plan, withWriteWarnings(outcome, warnings.get(plan) ?? writeWarnings(batch.privileges, plan)));
  const isOverwritten = ({ plan }: NarrowedGrant) => outcomes.get(plan)?.kind === 'overwritten';
  return { outcomes, narrowed: [...narrowed.values()].filter(isOverwritten) };
}

function withWriteWarnings(outcome: Outcome, warnings: readonly ImportWarning[]): Outcome {
  return isWritten(outcome) && warnings.length > 0 ? { ...outcome, writeWarnings: warnings } : outcome;
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
  if (!overwriting) {
    const undecided = plans.filter((plan) => needsBody(plan, stored.get(documentPath(plan.key)), onConflict));
    if (undecided.length > 0)
      await read(
        undecided.map(({ key }) => key),
        [...comparedFields, 'body'],
      );
    return stored;
  }
  const held = plans.flatMap((plan) => heldClaims(plan, stored.get(documentPath(plan.key))));
  const unread = held.filter((key) => !stored.has(documentPath(key)));
  if (unread.length > 0) await read(unread, ['orgId', 'ownerId']);
  return stored;
}

/**
 * Decides one record, without regard to its names.
 * @param ownStamp the date that an earlier attempt of this batch stored
 */
function decideRecord(
  context: BatchContext,
  batch: UndecidedBatch & Protected,
  plan: RecordPlan,
  stored: StoredDocument | undefined,
  ownStamp: string,
): Decision {
  if (stored === undefined) {
    const issue = batch.reserved.get(plan);
    return issue === undefined ? { outcome: { kind: 'created' }, write: 'create' } : fail(issue);
  }
  const equal = batch.comparison.isEqual(plan, stored);
  if (equal && stored.createdAt === ownStamp) return withoutWrite({ kind: 'created' });
  if (equal && stored.changedAt === ownStamp) return withoutWrite({ kind: 'overwritten' });
  if (isOfThisImport(context, stored)) return decideRepetition(plan, equal);
  if (equal) return withoutWrite({ kind: 'unchanged' });
  // Under another organisation or section, a record is always reported.
  if (!isSameRecord(plan, stored) || context.onConflict === 'report') return failExisting(plan);
  if (context.onConflict === 'skip') return withoutWrite({ kind: 'skipped' });
  return decideOverwriting(batch, plan, stored);
}

/** Decides a record that repeats a written one: entries of a file may repeat equal policies, but not records of lists. */
function decideRepetition({ record: { section } }: RecordPlan, isEqual: boolean): Decision {
  return isEqual && !isList(section) ? withoutWrite({ kind: 'unchanged' }) : fail(repetitionIssue(section));
}

function decideOverwriting(
  { reserved, protectedRecords }: UndecidedBatch & Protected,
  plan: RecordPlan,
  stored: StoredDocument,
): Decision {
  if (!canOverwrite(plan, stored)) return failExisting(plan);
  const issue = reserved.get(plan);
  if (issue !== undefined && !keepsReservedNames(plan, stored)) return fail(issue);
  const protecting = protectedRecords.get(plan);
  if (protecting !== undefined) return fail(protecting);
  return { outcome: { kind: 'overwritten' }, write: 'overwrite' };
}

function failExisting({ record }: RecordPlan): Decision {
  return fail(record.section.error.exists);
}

function fail(issue: RecordIssue): Decision {
  return withoutWrite({ kind: 'failed', issue });
}

function withoutWrite(outcome: Outcome): Decision {
  return { outcome, write: undefined };
}

function toWrites(
  plan: RecordPlan,
  stored: StoredDocument | undefined,
  write: NonNullable<Decision['write']>,
  stamp: string,
): Write[] {
  if (write === 'create') return [createRecord(plan, stamp)];
  return stored === undefined ? [] : [overwriteRecord(plan, stored, stamp)];
}
