// The field `changedAt` shows when a record changed last, and whether an import made that change. An import must not
// undo a change that a call without the lock made after the import began. So the field also keeps the version of such a
// change when an import or a key rotation writes the record.

import type { StoredDocument } from './store.ts';

const SEPARATOR = ' ';

/** Returns the date of a record's last change. */
export function changeDate({ changedAt = '' }: StoredDocument): string {
  return changedAt.split(SEPARATOR, 1).join('');
}

/**
 * Whether an import made the last change of the stored record. Imports write a change date with more digits than other
 * calls.
 */
export function isOfAnImport(stored: StoredDocument): boolean {
  return /\.\d{4,}Z$/.test(changeDate(stored));
}

/**
 * Returns the version of a record's last change by a call other than an import; undefined if no such call changed the
 * record.
 * @param version the document's version; undefined in a dry run
 */
export function callVersion(stored: StoredDocument, version: string | undefined): string | undefined {
  const [, kept] = (stored.changedAt ?? '').split(SEPARATOR);
  return kept ?? (isOfAnImport(stored) ? undefined : version);
}

/**
 * Returns the text that an import or a rotation of the master key writes into `changedAt`.
 * @param date the change date
 * @param version the version of the last change by another call
 */
export function withCallVersion(date: string, version: string | undefined): string {
  return version === undefined ? date : `${date}${SEPARATOR}${version}`;
}
