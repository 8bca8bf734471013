// The last change of a record, and whether an import made it. An import must not undo changes that calls without the
// lock made after the import began. This must be known even if an import or a key rotation wrote the record afterwards.

import type { StoredDocument } from './store.ts';

const SEPARATOR = ' ';

/** Returns the date of a record's last change. */
export function changeDate({ changedAt = '' }: StoredDocument): string {
  return changedAt.split(SEPARATOR, 1).join('');
}

/**
 * Whether an import made the last change of the stored record. Other calls write the present time as the change date,
 * which has fewer digits.
 */
export function isOfAnImport(stored: StoredDocument): boolean {
  return /\.\d{4,}Z$/.test(changeDate(stored));
}

/**
 * Returns the version of a record's last change by a call other than an import; undefined if there was none.
 * @param version the document's version; undefined in a trial, which changes nothing
 */
export function callVersion(stored: StoredDocument, version: string | undefined): string | undefined {
  const [, kept] = (stored.changedAt ?? '').split(SEPARATOR);
  return kept ?? (isOfAnImport(stored) ? undefined : version);
}

/**
 * Returns the change date for a write by an import or a rotation of the master key. The date keeps the version of the
 * last change by another call.
 */
export function withCallVersion(date: string, version: string | undefined): string {
  return version === undefined ? date : `${date}${SEPARATOR}${version}`;
}
