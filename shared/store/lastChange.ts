// The last change of a record, which a rotation of the master key keeps although it writes the document.

import type { StoredDocument } from './store.ts';

const SEPARATOR = ' ';

/**
 * Returns the change date for a write that changes a document and not its record: with the version of the record's last
 * change. The next change of the record replaces both.
 * @param version the document's version before the write
 */
export function withVersion(changedAt: string, version: string): string {
  return changedAt.includes(SEPARATOR) ? changedAt : `${changedAt}${SEPARATOR}${version}`;
}

/** Returns the date of a record's last change. */
export function changeDate({ changedAt = '' }: StoredDocument): string {
  return changedAt.split(SEPARATOR, 1).join('');
}

/**
 * Returns the version of a record's last change.
 * @param version the document's version
 */
export function changeVersion({ changedAt = '' }: StoredDocument, version: string): string {
  return changedAt.split(SEPARATOR)[1] ?? version;
}
