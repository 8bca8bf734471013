import { randomInt } from 'node:crypto';
import type { StoredDocument } from '../../shared/store/store.ts';

const RANDOM_DIGITS = 9;

/**
 * Returns the current time with random digits behind the milliseconds, so that no two imports have the same: each takes
 * records with its own stamp for its own.
 */
export function uniqueStamp(now: Date): string {
  const digits = String(randomInt(10 ** RANDOM_DIGITS)).padStart(RANDOM_DIGITS, '0');
  return now.toISOString().replace('Z', `${digits}Z`);
}

/** Returns the creation and change date for a call's next batch. */
export function nextStamp(call: { readonly stamp: string; batches: number }): string {
  const number = String(call.batches++).padStart(3, '0');
  return `${stampPrefix(call)}${number}Z`;
}

/** Whether a call wrote the stored record, so that the export file has another record with the same key. */
export function isOfThisImport(
  call: { readonly stamp: string },
  { createdAt = '', changedAt = '' }: StoredDocument,
): boolean {
  const prefix = stampPrefix(call);
  return createdAt.startsWith(prefix) || changedAt.startsWith(prefix);
}

/** Returns what the creation and change dates of a call's records start with. */
export function stampPrefix({ stamp }: { readonly stamp: string }): string {
  return stamp.replace(/Z$/, '');
}
