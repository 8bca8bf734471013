import { parseObject, textAt } from '../json/jsonObject.ts';
import { isInRemoval, organisationSection, sections } from '../organisation/allSections.ts';
import { readRecord, toRecord } from '../organisation/record.ts';
import { possibleClaimKeys } from '../organisation/recordPlan.ts';
import {
  foreignSections,
  isRequiredUser,
  requiresUser,
  selectDependents,
  withSection,
} from '../organisation/requiredRecords.ts';
import { isInSection, type Section, sectionPartition } from '../organisation/sections/section.ts';
import { isInDeletion, machineUserSection } from '../organisation/sections/users.ts';
import type { FieldName } from '../store/documentFields.ts';
import { userKey } from '../store/documentKeys.ts';
import { type PassRange, scanInPasses } from '../store/passes.ts';
import {
  type Collection,
  type DocumentKey,
  documentPath,
  readByPath,
  type Store,
  type StoredDocument,
  type Transaction,
} from '../store/store.ts';
import { INSTANCE_MEMBERS } from './memberships.ts';
import { tokenPartition } from './personalAccessTokens.ts';
import { forgetLastImport } from './userAccounts.ts';

type Scanned = Pick<Store, 'snapshot'>;

export interface Stored {
  readonly key: DocumentKey;
  readonly stored: StoredDocument;
}

/**
 * The maximum number of documents that a commit deletes. The claims on the documents' unique names do not count,
 * although the commit also deletes them.
 */
const DELETIONS_PER_COMMIT = 100;

const dependentFields: readonly FieldName[] = ['partition', 'orgId', 'ownerId', 'changedAt', 'body'];

export async function* scanStored(store: Scanned, range: PassRange): AsyncGenerator<readonly Stored[]> {
  const { collection } = range;
  for await (const documents of scanInPasses(store, { ...range, fields: dependentFields }))
    yield documents.map((stored) => ({ key: { collection, id: stored.id }, stored }));
}

/** Reads the `dependentFields` of documents. Skips keys that have no document. */
export async function readDependents(
  transaction: Pick<Transaction, 'getMany'>,
  keys: readonly DocumentKey[],
): Promise<readonly Stored[]> {
  const documents = await transaction.getMany(keys, dependentFields);
  return keys.flatMap((key, index) => {
    const stored = documents[index];
    return stored === undefined ? [] : [{ key, stored }];
  });
}

export interface DeletionOptions {
  /** When the signal aborts, the deletion stops between two batches and throws the signal's reason. */
  readonly signal?: AbortSignal;
  readonly onDeleted?: (documents: number) => void;
  /**
   * The deletion calls this function for each batch, in the transaction that deletes the batch. For example, it can
   * record the deletions in the audit trail.
   */
  readonly onDeleting?: OnDeleting | undefined;
}

export type OnDeleting = (transaction: Transaction, documents: readonly Stored[]) => Promise<void>;

/**
 * Sets the last import to unknown in each organisation that loses records. Otherwise, a mirroring import of the export
 * that was last imported would create the deleted records again.
 */
export const forgetImports: OnDeleting = (transaction, documents) =>
  forgetLastImport(
    transaction,
    documents.flatMap(({ stored: { orgId = [] } }) => orgId),
  );

/**
 * Deletes documents, and the claims on their unique names. The caller must have read the documents with
 * `dependentFields`. The caller must hold the instance's lock exclusively, so that no other record can claim their ids
 * or names during the deletion.
 * @returns the number of deleted documents; claims do not count
 */
export async function deleteFound(
  store: Pick<Store, 'transaction'>,
  pages: AsyncIterable<readonly Stored[]>,
  { signal, onDeleted, onDeleting }: DeletionOptions = {},
): Promise<number> {
  let deleted = 0;
  for await (const documents of pages) {
    for (let start = 0; start < documents.length; start += DELETIONS_PER_COMMIT) {
      signal?.throwIfAborted();
      const batch = documents.slice(start, start + DELETIONS_PER_COMMIT);
      await store.transaction(async (transaction) => {
        await onDeleting?.(transaction, batch);
        await deleteWithClaims(transaction, batch);
      });
      deleted += batch.length;
      onDeleted?.(batch.length);
    }
  }
  signal?.throwIfAborted();
  return deleted;
}

/**
 * Deletes documents and the claims on their unique names. The caller must have read the documents with
 * `dependentFields`.
 */
export async function deleteWithClaims(transaction: Transaction, documents: readonly Stored[]): Promise<void> {
  const claims = await findClaims(transaction, documents);
  const keys = [...documents.map(({ key }) => key), ...claims];
  transaction.write(keys.map((key) => ({ type: 'delete', key })));
}

export function storedClaims(stored: StoredDocument): readonly DocumentKey[] {
  const section = sectionOf(stored);
  if (section?.unique === undefined) return [];
  const { body = '{}', orgId = '' } = stored;
  const json = JSON.parse(body);
  const record = section === organisationSection ? toRecord(section, json, orgId) : readRecord(section, json, orgId);
  return possibleClaimKeys(record);
}

async function findClaims(transaction: Transaction, documents: readonly Stored[]): Promise<DocumentKey[]> {
  const candidates = documents.flatMap(({ key, stored }) =>
    storedClaims(stored).map((claim) => ({ claim, owner: documentPath(key) })),
  );
  const claims = await transaction.getMany(
    candidates.map(({ claim }) => claim),
    ['ownerId'],
  );
  return candidates.flatMap(({ claim, owner }, index) => (claims[index]?.ownerId === owner ? [claim] : []));
}

/**
 * Returns the section of a record. While an organisation or a user is being deleted, its document is in a separate
 * partition. This function also recognises these partitions.
 */
function sectionOf(stored: StoredDocument): Section | undefined {
  if (isInRemoval(stored)) return organisationSection;
  return isInDeletion(stored)
    ? machineUserSection
    : sections.find((candidate) => isInSection(stored.partition, candidate));
}

const userReferences = sections.flatMap((section) =>
  (section.references ?? []).filter(isRequiredUser).map((reference) => ({ section, reference })),
);

/** The users to delete. The keys are the users' ids, the values are the ids of their organisations. */
export type DeletedUsers = ReadonlyMap<string, string>;

export async function* findReferring(store: Scanned, users: DeletedUsers): AsyncGenerator<readonly Stored[]> {
  for (const range of referringRanges(users))
    for await (const documents of scanStored(store, range))
      yield documents.filter((document) => refersTo(document, users));
}

/**
 * Lists ranges that together contain every document which may refer to the users. If a section's records can only refer
 * to users of their own organisation, the range is that organisation's partition. Otherwise, the range is the whole
 * collection; memberships are an example.
 */
function referringRanges(users: DeletedUsers): readonly PassRange[] {
  const { own = [], foreign = [] } = Object.groupBy(userReferences, ({ reference: { ifForeign } }) =>
    ifForeign === undefined ? 'foreign' : 'own',
  );
  const [first = '', ...others] = users.keys();
  return [
    { collection: 'tokens', ...(others.length === 0 ? { partition: tokenPartition(first) } : {}) },
    ...[...new Set(foreign.map(({ section }) => section.collection))].map((collection) => ({ collection })),
    ...[...new Set(users.values())].flatMap((orgId) =>
      own.map(({ section }) => ({ collection: section.collection, partition: sectionPartition(orgId, section) })),
    ),
  ];
}

export function refersTo({ key: { collection }, stored }: Stored, users: Pick<DeletedUsers, 'has'>): boolean {
  if (collection === 'tokens') return users.has(stored.ownerId ?? '');
  if (stored.partition === INSTANCE_MEMBERS) return users.has(textAt(parseObject(stored.body), 'userId', ''));
  const section = sectionOf(stored);
  return section !== undefined && requiresUser({ section, stored }, users);
}

/**
 * Yields documents that are outside the deleted organisations, but would refer to deleted records: tokens and instance
 * roles of the organisations' users, and records of other organisations. Yields a record before the records to which it
 * refers. Therefore, if a deletion is interrupted, a repeated deletion can still find the remaining records.
 */
export async function* findDependents(store: Store, orgIds: ReadonlySet<string>): AsyncGenerator<readonly Stored[]> {
  for (const collection of new Set(foreignSections.map((section) => section.collection)))
    yield* scanForeign(store, collection, orgIds);
  yield* scanOwned(store, { collection: 'members', partition: INSTANCE_MEMBERS }, orgIds, (member) =>
    textAt(parseObject(member.body), 'userId', ''),
  );
  yield* scanOwned(store, { collection: 'tokens' }, orgIds, ({ ownerId = '' }) => ownerId);
}

async function* scanForeign(
  store: Store,
  collection: Collection,
  orgIds: ReadonlySet<string>,
): AsyncGenerator<readonly Stored[]> {
  for await (const documents of scanStored(store, { collection })) {
    const foreign = documents.filter(({ stored: { orgId = '' } }) => !orgIds.has(orgId));
    const records = foreign.flatMap(({ key, stored }) => withSection(stored).map((record) => ({ ...record, key })));
    yield await selectDependents(store, orgIds, records);
  }
}

async function* scanOwned(
  store: Store,
  range: PassRange,
  orgIds: ReadonlySet<string>,
  owner: (stored: StoredDocument) => string,
): AsyncGenerator<readonly Stored[]> {
  for await (const documents of scanStored(store, range)) {
    const ownerKeys = documents.map(({ stored }) => userKey(owner(stored)));
    const users = await readByPath(store, ownerKeys, ['orgId']);
    yield documents.filter(({ stored }) => orgIds.has(users.get(documentPath(userKey(owner(stored))))?.orgId ?? ''));
  }
}
