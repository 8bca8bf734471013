// Creates the stamps in creation and change dates. By its stamp, an import recognises the records that it has written
// itself.

import { randomInt } from 'node:crypto';
import { callVersion } from '../../shared/store/lastChange.ts';
import type { StoredDocument, Transaction } from '../../shared/store/store.ts';

const RANDOM_DIGITS = 9;

/**
 * Returns a stamp that identifies a call: the current time with random digits after the milliseconds. Stored records
 * contain the stamp as creation or change date, with the number of the attempt that wrote them:
 * `2026-01-02T03:04:05.678` `123456789` `004` `Z`.
 */
export function uniqueStamp(now: Date): string {
  const digits = String(randomInt(10 ** RANDOM_DIGITS)).padStart(RANDOM_DIGITS, '0');
  return now.toISOString().replace('Z', `${digits}Z`);
}

/**
 * Creates the dates for a call's attempts to write batches. No two attempts have the same date. It is the creation and
 * change date of the records that the attempt writes.
 */
export class AttemptStamps {
  readonly stamp: string;
  private attempts = 0;

  constructor(stamp: string) {
    this.stamp = stamp;
  }

  next(): string {
    const number = String(this.attempts++).padStart(3, '0');
    return `${stampPrefix(this)}${number}Z`;
  }
}

interface StampedCall {
  readonly stamp: string;
}

/**
 * True if this call wrote the stored record. If the file then contains a further record with the same key, this record
 * is a repetition.
 */
export function isOfThisImport(call: StampedCall, { createdAt = '', changedAt = '' }: StoredDocument): boolean {
  const prefix = stampPrefix(call);
  return createdAt.startsWith(prefix) || changedAt.startsWith(prefix);
}

/**
 * Finds the stored records that calls other than imports have changed since this import began. Omits records that only
 * other imports have changed. Those imports ended before this import acquired the instance's lock, so this import may
 * overwrite or delete their records.
 * @param documents the records that the transaction has read; the key is the record's path
 * @param position the position at which this import began
 * @returns the paths of the changed records
 */
export function findChanged(
  transaction: Pick<Transaction, 'changedAfter'>,
  documents: ReadonlyMap<string, StoredDocument>,
  position: string,
): ReadonlySet<string> {
  const changed = [...transaction.changedAfter(position)].filter(([path, version]) => {
    const stored = documents.get(path);
    return stored !== undefined && (callVersion(stored, version) ?? '') > position;
  });
  return new Set(changed.map(([path]) => path));
}

export function isCreatedByCall(call: StampedCall, { createdAt = '' }: StoredDocument): boolean {
  return createdAt.startsWith(stampPrefix(call));
}

/** Returns the text with which all dates of a call's written records begin. */
function stampPrefix({ stamp }: StampedCall): string {
  return stamp.replace(/Z$/, '');
}
