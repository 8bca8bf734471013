import { readDependents, storedClaims } from '../../../shared/accounts/dependents.ts';
import { holderKey } from '../../../shared/organisation/claimKeys.ts';
import { possibleClaimKeys, type RecordPlan } from '../../../shared/organisation/recordPlan.ts';
import type { FieldName } from '../../../shared/store/documentFields.ts';
import { isOfAnImport } from '../../../shared/store/lastChange.ts';
import {
  type DocumentKey,
  distinctKeys,
  documentPath,
  type StoredDocument,
  type Transaction,
} from '../../../shared/store/store.ts';
import type { ImportContext } from '../context.ts';
import type { RecordConflict } from '../contract.ts';
import type { FreedHolder } from '../decide/claims.ts';
import { type Intention, intend, isReported, type StoredBatch } from '../decide/decide.ts';
import { heldClaims } from '../decide/overwrite.ts';
import { comparedFields, differingProviders, isEqual, needsBody } from '../decide/storedEquality.ts';
import { type BatchRecord, type Checked, failed, unsettled } from '../stages.ts';
import { findChanged } from '../stamp.ts';
import type { BatchPasswords } from './batchPasswords.ts';
import { findRemovedMembers } from './removedMembers.ts';
import { findRolesInUse } from './rolesInUse.ts';

/** A record with the document under its key. */
type StoredPair = readonly [RecordPlan, StoredDocument];

/** The documents that a batch has read, by path. */
class BatchDocuments {
  readonly byPath = new Map<string, StoredDocument>();
  private readonly transaction: Transaction;
  private readonly names = new Set<string>();

  constructor(transaction: Transaction) {
    this.transaction = transaction;
  }

  /** Reads documents under the keys of records. */
  async read(keys: readonly DocumentKey[], fields: readonly FieldName[] = comparedFields): Promise<void> {
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

  /** Reads the holders of names, and the organisations of identity providers, that were not read yet. */
  async readNames(keys: readonly DocumentKey[]): Promise<void> {
    const unread = distinctKeys(keys).filter((key) => !this.names.has(documentPath(key)));
    for (const key of unread) this.names.add(documentPath(key));
    await this.read(unread, ['orgId', 'ownerId']);
  }

  /** Reads the holders of records' names that a mirroring import deletes, with the claims that they may hold. */
  async readFreed(
    plans: readonly RecordPlan[],
    mirror: ImportContext['mirror'],
  ): Promise<ReadonlyMap<string, FreedHolder>> {
    if (mirror?.isDeleting !== true) return new Map();
    const keys = plans.flatMap(({ claims }) =>
      claims.flatMap(({ key }) => mirror.deletions.findFree(this.byPath.get(documentPath(key))?.ownerId ?? '') ?? []),
    );
    const found = await readDependents(this.transaction, distinctKeys(keys));
    const freed = found.map(({ key, stored }) => [documentPath(key), { key, claims: storedClaims(stored) }] as const);
    await this.readNames(freed.flatMap(([, { claims }]) => claims));
    return new Map(freed);
  }

  /** Returns the plans of existing records, each with the document under its key. */
  pairs(records: readonly Checked[]): StoredPair[] {
    return records.flatMap(({ plan }): StoredPair[] => {
      const stored = this.byPath.get(documentPath(plan.key));
      return stored === undefined ? [] : [[plan, stored]];
    });
  }
}

/**
 * Reads what decides about a batch, at the same time as what its check needs. A batch that a repeated import finds equal needs
 * no other read. Otherwise a second one gets the bodies that must be compared or overwritten, because bodies may be large,
 * and the holders of the names to claim; a third one the holders of names in stored bodies.
 * @param check checks the records of the batch, in their order
 * @returns the checked batch, and what is stored
 */
export async function readBatch(
  transaction: Transaction,
  {
    base,
    rules,
    beginning,
    reservedNames,
    mirror,
  }: Pick<ImportContext, 'base' | 'rules' | 'beginning' | 'reservedNames' | 'mirror'>,
  plans: readonly RecordPlan[],
  check: () => Promise<readonly BatchRecord[]>,
  passwords: BatchPasswords,
): Promise<{ readonly batch: readonly BatchRecord[]; readonly stored: StoredBatch }> {
  const documents = new BatchDocuments(transaction);
  const batch = await readRecords(documents, plans, check);
  const records = unsettled(batch);
  const { byPath } = documents;
  const isNew = ({ plan, rejection }: Checked) => rejection === undefined && !byPath.has(documentPath(plan.key));
  const created = records.filter(isNew).map(({ plan }) => plan);
  const { onConflict } = rules;
  const [equal, removed, reserved] = await Promise.all([
    readDifferences(documents, { records, created, onConflict, passwords, mirror }),
    findRemovedMembers(transaction, created, beginning.memberRemovals),
    reservedNames.find(transaction, onConflict === 'overwrite' ? records.map(({ plan }) => plan) : created),
  ]);
  const changed = findChanged(transaction, byPath, beginning.position);
  const replaced = new Set([...byPath.keys()].filter((path) => mirror?.deletions.isReplaced(path) === true));
  const stored = { documents: byPath, changed, equal, reserved, replaced };
  const intentions = new Map<Checked, Intention>(records.map((record) => [record, intend(record, stored, rules)]));
  const written = records.filter((record) => typeof intentions.get(record) === 'string');
  const writtenPlans = written.map(({ plan }) => plan);
  const reported = records.filter((record) => onConflict === 'report' && isReported(record, intentions.get(record)));
  const replacing = [...writtenPlans, ...reported.map(({ plan }) => plan)];
  const inUse = await findRolesInUse(base, replacing, byPath, mirror);
  for (const record of written) {
    const issue = removed.get(record.plan) ?? inUse.get(record.plan);
    if (issue !== undefined) intentions.set(record, failed(issue));
  }
  for (const record of reported) {
    const params = inUse.get(record.plan)?.params;
    const { exists } = record.plan.record.section.error;
    if (params !== undefined) intentions.set(record, failed({ ...exists, reason: 'roles_in_use', params }));
  }
  const isOverwriting = written.some((record) => intentions.get(record) === 'overwrite');
  const adopted = findAdopted(byPath, changed, mirror);
  const versions = isOverwriting || adopted.size > 0 ? transaction.changedAfter('') : new Map();
  const freed = await documents.readFreed(writtenPlans, mirror);
  const passwordHashes = await passwords.hash(writtenPlans);
  const isSimultaneous = mirror?.isDeleting === true;
  return { batch, stored: { documents: byPath, intentions, versions, passwordHashes, freed, isSimultaneous, adopted } };
}

/** Finds the records that calls have changed before a mirroring import that replaces such changes. */
function findAdopted(
  documents: ReadonlyMap<string, StoredDocument>,
  changed: ReadonlySet<string>,
  mirror: ImportContext['mirror'],
): ReadonlySet<string> {
  const isAdopted = ([path, stored]: readonly [string, StoredDocument]) =>
    mirror?.adopts.has(stored.orgId ?? '') === true &&
    stored.changedAt !== undefined &&
    !isOfAnImport(stored) &&
    !changed.has(path);
  return new Set([...documents].filter(isAdopted).map(([path]) => path));
}

/** Checks a batch while it reads the documents under its records' keys; returns the checked batch. */
async function readRecords(
  documents: BatchDocuments,
  plans: readonly RecordPlan[],
  check: () => Promise<readonly BatchRecord[]>,
): Promise<readonly BatchRecord[]> {
  const [batch] = await Promise.all([check(), documents.read(plans.map(({ key }) => key))]);
  // A record that the check has completed may have another key.
  const moved = unsettled(batch.filter(({ plan }, index) => plan.key !== plans[index]?.key));
  await documents.read(moved.map(({ plan }) => plan.key));
  return batch;
}

interface ReadRecords {
  readonly records: readonly Checked[];
  /** Those of the records that are not stored. */
  readonly created: readonly RecordPlan[];
  readonly onConflict: RecordConflict;
  readonly passwords: BatchPasswords;
  readonly mirror: ImportContext['mirror'];
}

/** Reads what the documents under the records' keys leave open; returns the records that equal the stored ones. */
async function readDifferences(
  documents: BatchDocuments,
  { records, created, onConflict, passwords, mirror }: ReadRecords,
): Promise<ReadonlySet<RecordPlan>> {
  const overwrites = onConflict === 'overwrite';
  const keeps = onConflict === 'skip';
  const isUndecided = ([plan, stored]: StoredPair) => needsBody(plan, stored, onConflict);
  const findEqual = (pairs: readonly StoredPair[]) => {
    const remaining = withoutDeleted(documents.byPath, mirror);
    return passwords.withSamePassword(pairs.filter(([plan, stored]) => isEqual(plan, stored, remaining, onConflict)));
  };
  const found = documents.pairs(records);
  const equalByDigest = await findEqual(found.filter((pair) => !isUndecided(pair)));
  const differing = found.filter(([plan]) => !equalByDigest.has(plan));
  // An overwrite replaces the stored body, and an error names the fields in which it differs.
  const whole = keeps ? differing.filter(isUndecided) : differing;
  await Promise.all([
    documents.readNames([
      ...created.flatMap(({ claims }) => claims.map(({ key }) => key)),
      ...(overwrites ? differing.flatMap(([{ record }]) => possibleClaimKeys(record)) : []),
    ]),
    documents.readWhole(whole.map(([{ key }]) => key)),
  ]);
  const compared = whole.length === 0 ? [] : documents.pairs(records).filter(([plan]) => !equalByDigest.has(plan));
  await Promise.all([
    documents.readNames([
      ...compared.flatMap(([plan, stored]) => differingProviders(plan, stored)),
      ...(overwrites ? compared.flatMap(([plan, stored]) => heldClaims(plan, stored)) : []),
    ]),
    documents.readWhole(overwrites ? [] : adjustingKeys(created, documents.byPath)),
  ]);
  return equalByDigest.union(await findEqual(compared.filter(isUndecided)));
}

/** Returns the documents without those that a mirroring import deletes, which decide nothing about the records that stay. */
function withoutDeleted(
  documents: ReadonlyMap<string, StoredDocument>,
  mirror: ImportContext['mirror'],
): ReadonlyMap<string, StoredDocument> {
  if (mirror === undefined) return documents;
  return new Map([...documents].filter(([path]) => !mirror.deletions.has(path)));
}

/** Lists the keys of the stored records that have the adjusted field of new ones. */
function adjustingKeys(created: readonly RecordPlan[], documents: ReadonlyMap<string, StoredDocument>): DocumentKey[] {
  const keys = created.flatMap(({ claims, key }) => {
    const claim = claims.find(({ taken }) => taken === 'adjusted');
    const stored = claim && documents.get(documentPath(claim.key));
    return stored === undefined ? [] : [holderKey(stored, key.collection)];
  });
  return distinctKeys(keys);
}
