import { randomUUID } from 'node:crypto';
import { type DocumentKey, documentId, type Reader, type Transaction } from '../store/store.ts';

/**
 * The period in which checkpoints of imports are valid: a checkpoint is resumed from only in the epoch that it was saved
 * in. Whoever deletes records ends the epoch, so that no import reports a deleted record as imported. Exports look for users
 * in deletion only where an epoch has ended.
 */
export interface CheckpointEpoch {
  /** Unique to the epoch; empty for the first one. */
  readonly id: string;
  /** The unfinished import that overwrites records; its own checkpoints are the only valid ones. */
  readonly overwriter: string | undefined;
}

const epochKey: DocumentKey = { collection: 'instance', id: documentId('checkpoint epoch') };

/** Reads the current epoch. */
export async function readCheckpointEpoch(reader: Reader, now: Date): Promise<CheckpointEpoch> {
  const [stored] = await reader.getMany([epochKey], ['digest', 'ownerId', 'expiresAt']);
  const isActive = stored?.expiresAt !== undefined && Date.parse(stored.expiresAt) > now.getTime();
  return { id: stored?.digest ?? '', overwriter: isActive ? stored.ownerId : undefined };
}

/**
 * Ends the current epoch within a transaction that deletes records, so that no import resumes from a checkpoint which was
 * saved before.
 */
export async function endCheckpointEpoch(transaction: Transaction): Promise<void> {
  await beginEpoch(transaction, 'same');
}

/**
 * Ends the current epoch within a transaction of an import that begins to overwrite.
 * @param expiresAt the end of the mark's effect, if the import neither ends nor renews it; ISO 8601, UTC
 * @returns the new epoch's id
 */
export function beginOverwriting(transaction: Transaction, overwriter: string, expiresAt: string): Promise<string> {
  return beginEpoch(transaction, { ownerId: overwriter, expiresAt });
}

/** Renews the mark of an import that still overwrites, unless its end has removed it. */
export async function renewOverwriting(transaction: Transaction, expiresAt: string): Promise<void> {
  const [stored] = await transaction.getMany([epochKey], ['ownerId']);
  if (stored?.ownerId !== undefined) transaction.write([{ type: 'update', key: epochKey, fields: { expiresAt } }]);
}

/** Ends the current epoch within a transaction, once no import overwrites any more. */
export async function endOverwriting(transaction: Transaction): Promise<void> {
  await beginEpoch(transaction, 'none');
}

type Owner = 'same' | 'none' | { readonly ownerId: string; readonly expiresAt: string };

async function beginEpoch(transaction: Transaction, owner: Owner): Promise<string> {
  const [stored] = await transaction.getMany([epochKey], []);
  const digest = randomUUID();
  const set = typeof owner === 'object' ? owner : {};
  const removed = owner === 'none' ? { ownerId: null, expiresAt: null } : {};
  transaction.write([
    stored === undefined
      ? { type: 'create', key: epochKey, fields: { digest, ...set } }
      : { type: 'update', key: epochKey, fields: { digest, ...set, ...removed } },
  ]);
  return digest;
}
