// Checks that an import can mirror a file, and returns the sections that the file contains completely.

import { SECOND_MS } from '../clock.ts';
import { invalidRequest } from '../errors/errors.ts';
import { parseObject } from '../json/jsonObject.ts';
import { sections } from '../organisation/allSections.ts';
import { planReferences } from '../organisation/recordPlan.ts';
import type { Section } from '../organisation/sections/section.ts';
import { type Collection, documentId, documentPath, type StoredDocument } from '../store/store.ts';
import type { Inspection } from './inspection.ts';
import type { Manifest } from './manifest.ts';

/** Differences between two clocks up to this limit are ignored. */
const CLOCK_SKEW_MS = 300 * SECOND_MS;

/**
 * Whether a file's read time is in the future, because the source's clock is wrong. If an import accepted this time, no
 * later file would count as newer.
 */
export function isOfTheFuture({ readTime }: Pick<Manifest, 'readTime'>): boolean {
  return Date.parse(readTime) > Date.now() + CLOCK_SKEW_MS;
}

/**
 * Rejects a file that cannot be mirrored. The manifest must list the complete sections, and contain a valid read time
 * that is not in the future.
 * @throws IdentityError INVALID_ARGUMENT
 */
export function requireMirrorable({ manifest }: Inspection): void {
  const { sections, readTime = '' } = manifest ?? {};
  if (isOfTheFuture({ readTime })) {
    const description = `the readTime of the file, ${readTime}, is in the future: correct the clock of the source, then export it again`;
    throw invalidRequest([{ field: 'mirror', description }]);
  }
  if (sections !== undefined && !Number.isNaN(Date.parse(readTime))) return;
  const description =
    manifest === undefined
      ? 'the file has no manifest, so nothing proves that it is complete: mirror a file that `identity export` has written, not an export that ZITADEL has written'
      : 'the manifest of the file lacks `sections` or a valid `readTime`, so the missing records are unknown: export the source with this version';
  throw invalidRequest([{ field: 'mirror', description }]);
}

/**
 * Returns the sections of which the file has all records, according to its manifest. A section of keys counts only if
 * the request selects keys and the export included the keys.
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

/** The collections of the grants and memberships of users. */
export const ofUsers: ReadonlySet<Collection> = new Set(['members', 'userGrants']);

/**
 * Whether a record is a grant or a membership of one of the users.
 * @param users the paths of the users
 */
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
 * Returns the paths of the users whose grants and memberships the export left out, according to its manifest. The
 * source may have such records.
 */
export function usersLeftOut({ manifest }: Pick<Inspection, 'manifest'>): ReadonlySet<string> {
  return new Set(
    manifest?.usersLeftOut?.map((userId) => documentPath({ collection: 'users', id: documentId(userId) })),
  );
}
