// The field `changedAt` of a record contains the date of the last change, and shows whether an import made it. An
// import must not undo a change that another call, without the lock, has made since the import began. So if an import
// or a key rotation writes a record, `changedAt` also contains the version that the record had after the last change by
// such a call.

import type { StoredDocument } from './store.ts';

const SEPARATOR = ' ';

export function changeDate({ changedAt = '' }: StoredDocument): string {
  return changedAt.split(SEPARATOR, 1).join('');
}

/**
 * Returns whether an import made the last change of a record. The number of digits in `changedAt` shows this, because
 * imports write more digits than other calls.
 */
export function isOfAnImport(stored: StoredDocument): boolean {
  return /\.\d{4,}Z$/.test(changeDate(stored));
}

/**
 * Returns the version that a record had after its last change by a call other than an import. Returns undefined if
 * there was no such change.
 * @param version the document's present version; undefined in a dry run
 */
export function callVersion(stored: StoredDocument, version: string | undefined): string | undefined {
  const [, kept] = (stored.changedAt ?? '').split(SEPARATOR);
  return kept ?? (isOfAnImport(stored) ? undefined : version);
}

/**
 * Returns the value of `changedAt` that an import or a rotation of the master key writes.
 * @param date the change date
 * @param version the version of the last change by another call, if any
 */
export function withCallVersion(date: string, version: string | undefined): string {
  return version === undefined ? date : `${date}${SEPARATOR}${version}`;
}
