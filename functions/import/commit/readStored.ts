import { holderKey } from '../../../shared/organisation/claimKeys.ts';
import type { RecordPlan } from '../../../shared/organisation/recordPlan.ts';
import type { FieldName } from '../../../shared/store/documentFields.ts';
import {
  type DocumentKey,
  distinctKeys,
  documentPath,
  type StoredDocument,
  type Transaction,
} from '../../../shared/store/store.ts';
import type { ImportContext } from '../context.ts';
import type { OnConflict } from '../contract.ts';
import { comparedFields, differingProviders, isEqual, needsBody } from '../decide/comparison.ts';
import { intend, type StoredBatch } from '../decide/decide.ts';
import { heldClaims } from '../decide/overwrite.ts';
import { type BatchRecord, type Checked, unsettled } from '../stages.ts';
import type { BatchPasswords } from './passwords.ts';
import { findRemovedMembers } from './removedMembers.ts';
import { findRolesInUse } from './rolesInUse.ts';

/** The documents that a batch has read, by path. */
class BatchDocuments {
  readonly byPath = new Map<string, StoredDocument>();
  private readonly transaction: Transaction;

  constructor(transaction: Transaction) {
    this.transaction = transaction;
  }

  async read(keys: readonly DocumentKey[], fields: readonly FieldName[]): Promise<void> {
    if (keys.length === 0) return;
    const found = await this.transaction.getMany(keys, fields);
    for (const [index, key] of keys.entries()) {
      const document = found[index];
      if (document !== undefined) this.byPath.set(documentPath(key), document);
    }
  }

  /** Reads documents with their bodies. */
  async readWhole(keys: readonly DocumentKey[]): Promise<void> {
    await this.read(keys, [...comparedFields, 'sequence', 'body']);
  }

  /** Returns the plans of existing records, each with the document under its key. */
  pairs(records: readonly Checked[]): StoredPair[] {
    return records.flatMap(({ plan }): StoredPair[] => {
      const stored = this.byPath.get(documentPath(plan.key));
      return stored === undefined ? [] : [[plan, stored]];
    });
  }
}

type StoredPair = readonly [RecordPlan, StoredDocument];

/**
 * Reads what decides about a batch: the documents under its records' keys, and then the claims of the records to write.
 * Bodies may be large, so they are read only if the digests do not decide, and of records to overwrite.
 */
export async function readStored(
  transaction: Transaction,
  { base, rules, since, memberRemovals }: Pick<ImportContext, 'base' | 'rules' | 'since' | 'memberRemovals'>,
  batch: readonly BatchRecord[],
  passwords: BatchPasswords,
): Promise<StoredBatch> {
  const documents = new BatchDocuments(transaction);
  const records = unsettled(batch);
  const equal = await readRecords(documents, records, rules.onConflict, passwords);
  const changed = since === undefined ? new Set<string>() : transaction.changedAfter(since);
  const { byPath } = documents;
  const plans = records
    .filter(({ plan }) => !equal.has(plan))
    .filter((record) => typeof intend(record, { documents: byPath, changed, equal }, rules) === 'string')
    .map(({ plan }) => plan);
  const names = plans.flatMap((plan) => [
    ...plan.claims.map(({ key }) => key),
    ...heldClaims(plan, byPath.get(documentPath(plan.key))),
  ]);
  await documents.read(distinctKeys(names), ['orgId', 'ownerId']);
  const created = plans.filter(({ key }) => !byPath.has(documentPath(key)));
  if (rules.onConflict !== 'overwrite') await documents.readWhole(distinctKeys(adjustingKeys(created, byPath)));
  const removed = await findRemovedMembers(transaction, created, memberRemovals);
  const inUse = await findRolesInUse(base, plans, byPath);
  return {
    documents: byPath,
    changed,
    equal,
    passwordHashes: await passwords.hash(plans),
    forbidden: new Map([...removed, ...inUse]),
  };
}

/** Lists the keys of the stored records that have the adjusted field of new ones. */
function adjustingKeys(created: readonly RecordPlan[], documents: ReadonlyMap<string, StoredDocument>): DocumentKey[] {
  return created.flatMap(({ claims, key }) => {
    const claim = claims.find(({ taken }) => taken === 'adjusted');
    const stored = claim && documents.get(documentPath(claim.key));
    return stored === undefined ? [] : [holderKey(stored, key.collection)];
  });
}

/** Reads the documents under the keys of records; returns the plans of those that are stored with equal content. */
async function readRecords(
  documents: BatchDocuments,
  records: readonly Checked[],
  onConflict: OnConflict,
  passwords: BatchPasswords,
): Promise<ReadonlySet<RecordPlan>> {
  const keys = records.map(({ plan }) => plan.key);
  await documents.read(keys, comparedFields);
  const found = documents.pairs(records);
  const incomplete = found.filter(([plan, stored]) => needsBody(plan, stored, onConflict));
  await documents.readWhole(incomplete.map(([{ key }]) => key));
  const pairs = incomplete.length === 0 ? found : documents.pairs(records);
  const providers = pairs.flatMap(([plan, stored]) => differingProviders(plan, stored));
  await documents.read(distinctKeys(providers), ['orgId']);
  const same = pairs.filter(([plan, stored]) => isEqual(plan, stored, documents.byPath, onConflict));
  const equal = await passwords.withSamePassword(same);
  if (onConflict === 'overwrite') {
    const different = pairs.filter(([plan, { body }]) => body === undefined && !equal.has(plan));
    await documents.readWhole(different.map(([{ key }]) => key));
  }
  return equal;
}
