import { instanceMemberKey } from '../auth/authorise.ts';
import type { Reference } from '../organisation/relations.ts';
import { isRequiredUser, requiresUser } from '../organisation/requiredRecords.ts';
import { isInSection, type Section, sectionPartition } from '../organisation/section.ts';
import { sections } from '../organisation/sections.ts';
import type { FieldName } from '../store/documentFields.ts';
import type { DocumentKey, ScanRange, Snapshot, StoredDocument } from '../store/store.ts';
import { tokenPartition } from './personalAccessTokens.ts';

/** A section's reference to users. */
interface UserReference {
  readonly section: Section;
  readonly reference: Reference;
}

const userReferences: readonly UserReference[] = sections.flatMap((section) =>
  (section.references ?? []).filter(isRequiredUser).map((reference) => ({ section, reference })),
);

/** The fields that tell whether a document refers to a user. */
export const referringFields: readonly FieldName[] = ['partition', 'orgId', 'ownerId', 'body'];

/** Yields the keys of all documents of an instance that refer to a user of the organisation `orgId`. */
export async function* findReferring(
  snapshot: Snapshot,
  userId: string,
  orgId: string,
): AsyncGenerator<readonly DocumentKey[]> {
  yield [instanceMemberKey(userId)];
  for (const range of referringRanges(userId, orgId)) {
    const { collection } = range;
    for await (const documents of snapshot.scan({ ...range, fields: referringFields })) {
      const referring = documents.filter((document) => refersTo({ collection, id: document.id }, document, userId));
      yield referring.map(({ id }) => ({ collection, id }));
    }
  }
}

/**
 * Lists the ranges that may refer to a user. Records whose users must be of their own organisation are in that
 * organisation's partition; others, such as memberships, may be in any, so their collections are read as a whole.
 */
function referringRanges(userId: string, orgId: string): readonly ScanRange[] {
  const isOwn = ({ reference }: UserReference) => reference.ifForeign !== undefined;
  const foreign = userReferences.filter((reference) => !isOwn(reference));
  return [
    { collection: 'tokens', partition: tokenPartition(userId) },
    ...[...new Set(foreign.map(({ section }) => section.collection))].map((collection) => ({ collection })),
    ...userReferences
      .filter(isOwn)
      .map(({ section }) => ({ collection: section.collection, partition: sectionPartition(orgId, section) })),
  ];
}

/** Whether a stored document refers to a user. */
export function refersTo({ collection, id }: DocumentKey, stored: StoredDocument | undefined, userId: string): boolean {
  if (stored === undefined) return false;
  if (collection === 'tokens') return stored.ownerId === userId;
  const section = userReferences.map((one) => one.section).find((one) => isInSection(stored.partition, one));
  if (section === undefined) return collection === 'members' && id === instanceMemberKey(userId).id;
  return requiresUser({ section, stored }, new Set([userId]));
}
