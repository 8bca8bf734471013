// The last change of a record, and which call made it. An import must not undo what a call without the lock has changed
// since the import began, even if a write that is no such change follows.

import type { StoredDocument } from './store.ts';

const SEPARATOR = ' ';

/** Returns the date of a record's last change. */
export function changeDate({ changedAt = '' }: StoredDocument): string {
  return changedAt.split(SEPARATOR, 1).join('');
}

/** Whether an import changed the stored record last, and not a call that gives it the present time. */
export function isOfAnImport(stored: StoredDocument): boolean {
  return /\.\d{4,}Z$/.test(changeDate(stored));
}

/**
 * Returns the version of a record's last change by another call than an import; undefined if there was none.
 * @param version the document's version; undefined in a trial, which changes nothing
 */
export function callVersion(stored: StoredDocument, version: string | undefined): string | undefined {
  const [, kept] = (stored.changedAt ?? '').split(SEPARATOR);
  return kept ?? (isOfAnImport(stored) ? undefined : version);
}

/**
 * Returns the change date for a write of an import or a rotation of the master key, which keeps the version of the last
 * change by another call. The next such change replaces both.
 */
export function withCallVersion(date: string, version: string | undefined): string {
  return version === undefined ? date : `${date}${SEPARATOR}${version}`;
}
