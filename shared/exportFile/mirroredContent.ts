// An import that mirrors a file also deletes stored records that the file lacks. This module checks that the file
// permits these deletions, and finds the sections that the file contains completely.

import { SECOND_MS } from '../clock.ts';
import { invalidRequest } from '../errors/errors.ts';
import { parseObject } from '../json/jsonObject.ts';
import { sections } from '../organisation/allSections.ts';
import { planReferences } from '../organisation/recordPlan.ts';
import type { Section } from '../organisation/sections/section.ts';
import { type Collection, documentId, documentPath, type StoredDocument } from '../store/store.ts';
import type { Inspection } from './inspection.ts';
import type { Manifest } from './manifest.ts';

/** The maximum difference between the clocks of two servers that counts as normal. */
const CLOCK_SKEW_MS = 300 * SECOND_MS;

/**
 * True if the read time of a file is in the future, because the clock of the source is wrong. If an import accepted
 * such a file, exports made later would count as older than this file.
 */
export function isOfTheFuture({ readTime }: Pick<Manifest, 'readTime'>): boolean {
  return Date.parse(readTime) > Date.now() + CLOCK_SKEW_MS;
}

/**
 * Checks that an import can mirror a file: the manifest must list the completely read sections, and contain a valid
 * read time that is not in the future.
 * @throws IdentityError INVALID_ARGUMENT if an import cannot mirror the file
 */
export function requireMirrorable({ manifest }: Inspection): void {
  const { sections, readTime = '' } = manifest ?? {};
  if (isOfTheFuture({ readTime })) {
    const description = `the readTime of the file, ${readTime}, is in the future: correct the clock of the source, then export the source again`;
    throw invalidRequest([{ field: 'mirror', description }]);
  }
  if (sections !== undefined && !Number.isNaN(Date.parse(readTime))) return;
  const description =
    manifest === undefined
      ? 'the file has no manifest, so nothing proves that it is complete: mirror a file that `identity export` has written, not an export that ZITADEL has written'
      : 'the manifest of the file lacks `sections` or a valid `readTime`, so the source may have records that the file lacks: export the source again with this version';
  throw invalidRequest([{ field: 'mirror', description }]);
}

/**
 * Returns the sections that the file contains completely, according to the manifest. The source has no other records in
 * these sections. A section of keys counts as complete only if the export included keys and this import includes them
 * too.
 */
export function mirroredSections({
  inspection: { manifest },
  settings,
}: {
  readonly inspection: Pick<Inspection, 'manifest'>;
  readonly settings: { readonly withKeys?: boolean | undefined };
}): ReadonlySet<Section> {
  const read = new Set(manifest?.sections);
  const hasKeys = settings.withKeys === true && manifest?.secrets?.keys !== false;
  return new Set(sections.filter(({ name, keys }) => read.has(name) && (keys !== true || hasKeys)));
}

/** The collections that contain the memberships and the grants of users. */
export const ofUsers: ReadonlySet<Collection> = new Set(['members', 'userGrants']);

/** True if a record is a grant or a membership of a user whose document has a path in `users`. */
export function isOfUser(
  section: Section,
  { orgId = '', body }: Pick<StoredDocument, 'orgId' | 'body'>,
  users: ReadonlySet<string>,
): boolean {
  if (users.size === 0 || !ofUsers.has(section.collection)) return false;
  const references = planReferences({ section, json: parseObject(body), orgId });
  return references.some(({ key }) => users.has(documentPath(key)));
}

/**
 * Returns the document paths of the users whose grants and memberships are not in the file, although the source may
 * have them.
 */
export function usersLeftOut({ manifest }: Pick<Inspection, 'manifest'>): ReadonlySet<string> {
  return new Set(
    manifest?.usersLeftOut?.map((userId) => documentPath({ collection: 'users', id: documentId(userId) })),
  );
}
