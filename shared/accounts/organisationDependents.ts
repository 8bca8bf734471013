import { userKey } from '../auth/authorise.ts';
import { parseObject, textAt } from '../json/jsonObject.ts';
import { readRecord } from '../organisation/record.ts';
import { planReferences } from '../organisation/recordPlan.ts';
import type { Reference } from '../organisation/relations.ts';
import { isInSection, type Section } from '../organisation/section.ts';
import { sections } from '../organisation/sections.ts';
import type { FieldName } from '../store/documentFields.ts';
import { readByPath } from '../store/readByPath.ts';
import { type Collection, type DocumentKey, documentPath, type Snapshot, type StoredDocument } from '../store/store.ts';
import { INSTANCE_MEMBERS } from './members.ts';

/** A stored document and its key. */
export interface Stored {
  readonly key: DocumentKey;
  readonly stored: StoredDocument;
}

/** The sections whose records may refer to records of another organisation, without which they cannot exist. */
const foreignSections: readonly Section[] = sections.filter(({ references = [] }) => references.some(mayBeForeign));

/** The sections among them whose records others refer to. */
const intermediate = foreignSections.filter(({ collection }) =>
  foreignSections.some(({ references = [] }) => references.some((reference) => reference.collection === collection)),
);
const intermediateNames = new Set(intermediate.map(({ name }) => name));
const final = foreignSections.filter(({ name }) => !intermediateNames.has(name));

function mayBeForeign({ inFile, keptIfMissing, ifForeign, permittedBy, openTo }: Reference): boolean {
  if (inFile === true || keptIfMissing !== undefined) return false;
  return ifForeign === undefined || permittedBy !== undefined || openTo !== undefined;
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
  const found: Stored[] = [];
  for (const section of intermediate)
    for await (const batch of scanForeign(snapshot, section.collection, orgIds, new Set())) found.push(...batch);
  const doomed = new Set(found.map(({ key }) => documentPath(key)));
  for (const collection of new Set(final.map((section) => section.collection)))
    yield* scanForeign(snapshot, collection, orgIds, doomed);
  yield found;
  yield* scanOwned(snapshot, { collection: 'members', partition: INSTANCE_MEMBERS }, orgIds, (member) =>
    textAt(parseObject(member.body), 'userId', ''),
  );
  yield* scanOwned(snapshot, { collection: 'tokens' }, orgIds, ({ ownerId = '' }) => ownerId);
}

/**
 * Yields the records of a collection that refer to records of the organisations, and are not their own.
 * @param doomed the paths of other records that will be deleted
 */
async function* scanForeign(
  snapshot: Snapshot,
  collection: Collection,
  orgIds: ReadonlySet<string>,
  doomed: ReadonlySet<string>,
): AsyncGenerator<readonly Stored[]> {
  const isRemoved = (orgId: string | undefined) => orgIds.has(orgId ?? '');
  for await (const documents of snapshot.scan({ collection, fields })) {
    const records = documents.filter(({ orgId }) => !isRemoved(orgId)).map((stored) => withTargets(collection, stored));
    const targets = await readByPath(
      snapshot,
      records.flatMap(({ keys }) => keys),
      ['orgId'],
    );
    const isGone = (path: string) => doomed.has(path) || isRemoved(targets.get(path)?.orgId);
    yield records.filter(({ keys }) => keys.map(documentPath).some(isGone));
  }
}

/** Lists the keys of the records that a stored document cannot be without. */
function withTargets(collection: Collection, stored: StoredDocument): Stored & { readonly keys: DocumentKey[] } {
  const section = foreignSections.find((one) => isInSection(stored.partition, one));
  const key = { collection, id: stored.id };
  if (section === undefined) return { key, stored, keys: [] };
  const planned = planReferences(readRecord(section, parseObject(stored.body), stored.orgId ?? ''));
  return { key, stored, keys: planned.filter(({ reference }) => mayBeForeign(reference)).map((one) => one.key) };
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
