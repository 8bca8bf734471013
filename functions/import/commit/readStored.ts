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
import { comparedFields, differingProviders, isEqual, needsBody } from '../decide/comparison.ts';
import { intend, type StoredBatch } from '../decide/decide.ts';
import { heldClaims } from '../decide/overwrite.ts';
import { type BatchRecord, unsettled } from '../stages.ts';
import type { BatchPasswords } from './passwords.ts';
import { findRemovedMembers } from './removedMembers.ts';
import { findRolesInUse } from './rolesInUse.ts';

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
  const { onConflict } = rules;
  const documents = new Map<string, StoredDocument>();
  const read = async (keys: readonly DocumentKey[], fields: readonly FieldName[]) => {
    if (keys.length === 0) return;
    const found = await transaction.getMany(keys, fields);
    for (const [index, key] of keys.entries()) {
      const document = found[index];
      if (document !== undefined) documents.set(documentPath(key), document);
    }
  };
  const records = unsettled(batch);
  const storedPairs = () =>
    records.flatMap(({ plan }): [RecordPlan, StoredDocument][] => {
      const stored = documents.get(documentPath(plan.key));
      return stored === undefined ? [] : [[plan, stored]];
    });
  const readWhole = (pairs: readonly [RecordPlan, StoredDocument][]) =>
    read(
      pairs.map(([{ key }]) => key),
      [...comparedFields, 'sequence', 'body'],
    );

  await read(
    records.map(({ plan }) => plan.key),
    comparedFields,
  );
  const found = storedPairs();
  const incomplete = found.filter(([plan, stored]) => needsBody(plan, stored, onConflict));
  await readWhole(incomplete);
  const pairs = incomplete.length === 0 ? found : storedPairs();
  const providers = pairs.flatMap(([plan, stored]) => differingProviders(plan, stored));
  await read(distinctKeys(providers), ['orgId']);
  const same = pairs.filter(([plan, stored]) => isEqual(plan, stored, documents, onConflict));
  const equal = await passwords.withSamePassword(same);
  if (onConflict === 'overwrite')
    await readWhole(pairs.filter(([plan, { body }]) => body === undefined && !equal.has(plan)));
  const changed = since === undefined ? new Set<string>() : transaction.changedAfter(since);
  const different = records.filter(({ plan }) => !equal.has(plan));
  const toWrite = different.filter(
    (record) => typeof intend(record, { documents, changed, equal }, rules) === 'string',
  );
  const plans = toWrite.map(({ plan }) => plan);
  const names = plans.flatMap((plan) => [
    ...plan.claims.map(({ key }) => key),
    ...heldClaims(plan, documents.get(documentPath(plan.key))),
  ]);
  await read(distinctKeys(names), ['orgId', 'ownerId']);
  const created = plans.filter(({ key }) => !documents.has(documentPath(key)));
  const removed = await findRemovedMembers(transaction, created, memberRemovals);
  const inUse = await findRolesInUse(base, plans, documents);
  return {
    documents,
    changed,
    equal,
    passwordHashes: await passwords.hash(plans),
    forbidden: new Map([...removed, ...inUse]),
  };
}
