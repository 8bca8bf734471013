import { userKey } from '../auth/authorise.ts';
import { parseObject, textAt } from '../json/jsonObject.ts';
import { foreignSections, selectDependents, withSection } from '../organisation/requiredRecords.ts';
import type { FieldName } from '../store/documentFields.ts';
import { readByPath } from '../store/readByPath.ts';
import { type Collection, type DocumentKey, documentPath, type Snapshot, type StoredDocument } from '../store/store.ts';
import { INSTANCE_MEMBERS } from './members.ts';

/** A stored document and its key. */
export interface Stored {
  readonly key: DocumentKey;
  readonly stored: StoredDocument;
}

const fields: readonly FieldName[] = ['partition', 'orgId', 'ownerId', 'body'];

/**
 * Yields what other organisations and the instance have because of some organisations, and cannot keep without them: the
 * tokens and roles of their users, and records that refer to theirs. Records precede those that they refer to, so that a
 * deletion in this order, interrupted anywhere, finds the rest when it is repeated.
 */
export async function* findDependents(
  snapshot: Snapshot,
  orgIds: ReadonlySet<string>,
): AsyncGenerator<readonly Stored[]> {
  for (const collection of new Set(foreignSections.map((section) => section.collection)))
    yield* scanForeign(snapshot, collection, orgIds);
  yield* scanOwned(snapshot, { collection: 'members', partition: INSTANCE_MEMBERS }, orgIds, (member) =>
    textAt(parseObject(member.body), 'userId', ''),
  );
  yield* scanOwned(snapshot, { collection: 'tokens' }, orgIds, ({ ownerId = '' }) => ownerId);
}

/** Yields the records of a collection that refer to records of the organisations, and are not their own. */
async function* scanForeign(
  snapshot: Snapshot,
  collection: Collection,
  orgIds: ReadonlySet<string>,
): AsyncGenerator<readonly Stored[]> {
  for await (const documents of snapshot.scan({ collection, fields })) {
    const records = documents.filter(({ orgId = '' }) => !orgIds.has(orgId)).flatMap(withSection);
    const dependents = await selectDependents(snapshot, orgIds, records);
    yield dependents.map(({ stored }) => ({ key: { collection, id: stored.id }, stored }));
  }
}

/** Yields the documents of a range whose users are of the organisations. */
async function* scanOwned(
  snapshot: Snapshot,
  range: { readonly collection: Collection; readonly partition?: string },
  orgIds: ReadonlySet<string>,
  owner: (stored: StoredDocument) => string,
): AsyncGenerator<readonly Stored[]> {
  for await (const documents of snapshot.scan({ ...range, fields })) {
    const users = await readByPath(
      snapshot,
      documents.map((stored) => userKey(owner(stored))),
      ['orgId'],
    );
    const isOwned = (stored: StoredDocument) =>
      orgIds.has(users.get(documentPath(userKey(owner(stored))))?.orgId ?? '');
    yield documents.filter(isOwned).map((stored) => ({ key: { collection: range.collection, id: stored.id }, stored }));
  }
}
