import { holderKey } from '../../../shared/organisation/claimKeys.ts';
import { possibleClaimKeys, type RecordPlan } from '../../../shared/organisation/recordPlan.ts';
import { isOfAnImport } from '../../../shared/store/lastChange.ts';
import {
  type DocumentKey,
  distinctKeys,
  documentPath,
  type StoredDocument,
  type Transaction,
} from '../../../shared/store/store.ts';
import type { BatchPasswords } from '../commit/batchPasswords.ts';
import type { ImportContext } from '../context.ts';
import type { RecordConflict } from '../contract.ts';
import type { StoredBatch } from '../decide/decide.ts';
import { heldClaims } from '../decide/overwrite.ts';
import { differingProviders, isEqual, needsBody } from '../decide/storedEquality.ts';
import { isDoomed, type Mirror } from '../mirror/deletions.ts';
import { type BatchRecord, type Checked, unsettled } from '../stages.ts';
import { findChanged } from '../stamp.ts';
import { BatchDocuments, type StoredPair } from './batchDocuments.ts';
import { findLastOwners } from './lastOwners.ts';
import { findRemovedMembers } from './removedMembers.ts';
import { findRolesInUse } from './rolesInUse.ts';

interface ReadBatch {
  readonly batch: readonly BatchRecord[];
  readonly stored: StoredBatch;
}

/**
 * Reads the stored data on which the outcomes of a batch's records depend, in four steps:
 *
 * 1. While the checks run: the data that show whether all records equal the stored records. If all are equal, the other
 *    steps are skipped.
 * 2. The bodies of the stored records, which can be large, and the documents that reserve the names in the file.
 * 3. The documents that reserve the names of the stored records.
 * 4. The data that only writes need, such as the user grants that use a role.
 */
export async function readBatch(
  transaction: Transaction,
  {
    base,
    rules: { onConflict },
    beginning,
    mirror,
    state,
  }: Pick<ImportContext, 'base' | 'rules' | 'beginning' | 'mirror' | 'state'>,
  plans: readonly RecordPlan[],
  check: () => Promise<readonly BatchRecord[]>,
  passwords: BatchPasswords,
): Promise<ReadBatch> {
  const documents = new BatchDocuments(transaction);
  const batch = await readRecords(documents, plans, check);
  const records = unsettled(batch);
  const { byPath } = documents;
  const isNew = ({ plan }: Checked) => plan.rejection === undefined && !byPath.has(documentPath(plan.key));
  const created = records.filter(isNew).map(({ plan }) => plan);
  const overwrites = onConflict === 'overwrite';
  const writable = overwrites ? records.map(({ plan }) => plan) : created;
  const [equal, removed, reserved] = await Promise.all([
    readDifferences(documents, { records, created, onConflict, passwords, mirror }),
    // Members that exist must be checked too, because another import may have created a removed member a second time.
    findRemovedMembers(transaction, writable, beginning.memberRemovals),
    state.reservedNames.find(transaction, writable),
  ]);
  const isDiffering = ({ plan }: Checked) => plan.rejection === undefined && !equal.has(plan);
  const differing = records.filter(isDiffering).map(({ plan }) => plan);
  const { rolesInUse, early } = await findRolesInUse(base, onConflict === 'skip' ? [] : differing, byPath, mirror);
  const lastOwners = await findLastOwners(base, transaction, overwrites ? differing : [], byPath);
  const freed = await documents.readFreed(differing, mirror);
  const changed = findChanged(transaction, byPath, beginning.position);
  return {
    batch,
    stored: {
      documents: byPath,
      changed,
      equal,
      removed,
      reserved,
      replaced: new Set(mirror && [...byPath.keys()].filter((path) => mirror.deletions.isReplaced(path))),
      rolesInUse,
      lastOwners,
      versions: overwrites ? transaction.changedAfter('') : new Map(),
      freed,
      isSimultaneous: mirror?.isDeleting === true,
      adopted: findAdopted(byPath, changed, mirror),
      early,
    },
  };
}

function findAdopted(
  documents: ReadonlyMap<string, StoredDocument>,
  changed: ReadonlySet<string>,
  mirror: Mirror | undefined,
): ReadonlySet<string> {
  if (mirror === undefined) return new Set();
  const isAdopted = ([path, stored]: readonly [string, StoredDocument]) =>
    mirror.adopts.has(stored.orgId ?? '') &&
    stored.changedAt !== undefined &&
    !isOfAnImport(stored) &&
    !changed.has(path);
  return new Set([...documents].filter(isAdopted).map(([path]) => path));
}

async function readRecords(
  documents: BatchDocuments,
  plans: readonly RecordPlan[],
  check: () => Promise<readonly BatchRecord[]>,
): Promise<readonly BatchRecord[]> {
  const [batch] = await Promise.all([check(), documents.read(plans.map(({ key }) => key))]);
  // Completing a record can change its key, so read the documents with the new keys too.
  const moved = unsettled(batch.filter(({ plan }, index) => plan.key !== plans[index]?.key));
  await documents.read(moved.map(({ plan }) => plan.key));
  return batch;
}

interface ReadRecords {
  readonly records: readonly Checked[];
  /** The records that are not stored yet. */
  readonly created: readonly RecordPlan[];
  readonly onConflict: RecordConflict;
  readonly passwords: BatchPasswords;
  readonly mirror: Mirror | undefined;
}

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
  const storedPairs = documents.pairs(records);
  const equalByDigest = await findEqual(storedPairs.filter((pair) => !isUndecided(pair)));
  const differing = storedPairs.filter(([plan]) => !equalByDigest.has(plan));
  // An overwrite needs the whole stored body. An error that lists the differing fields needs it, too.
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

/**
 * Leaves out the documents that a mirroring import deletes, so that they do not influence decisions about other
 * records.
 */
function withoutDeleted(
  documents: ReadonlyMap<string, StoredDocument>,
  mirror: Mirror | undefined,
): ReadonlyMap<string, StoredDocument> {
  if (mirror === undefined) return documents;
  return new Map([...documents].filter(([path]) => !isDoomed(path, mirror)));
}

/**
 * Lists the stored records that may have a mark which only one record of an organisation can have, such as the primary
 * mark of a domain. A new record of the batch needs this mark.
 */
function adjustingKeys(created: readonly RecordPlan[], documents: ReadonlyMap<string, StoredDocument>): DocumentKey[] {
  const keys = created.flatMap(({ claims, key }) => {
    const claim = claims.find(({ taken }) => taken === 'adjusted');
    const stored = claim && documents.get(documentPath(claim.key));
    return stored === undefined ? [] : [holderKey(stored, key.collection)];
  });
  return distinctKeys(keys);
}
