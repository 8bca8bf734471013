import { hash } from 'node:crypto';
import { z } from 'zod';
import { parseIfJson } from '../../../shared/json/jsonObject.ts';
import type { Section } from '../../../shared/organisation/section.ts';
import { organisationSection, sections } from '../../../shared/organisation/sections.ts';
import {
  type DocumentKey,
  type DocumentStore,
  documentId,
  type Store,
  WriteConflictError,
} from '../../../shared/store/store.ts';

/** Increased when checkpoints get another meaning, so that none of an older version is resumed from. */
const FORMAT = 3;
/** Records imported longer ago may have been changed since. */
const MAX_AGE_MS = 24 * 3_600_000;
/** The time between two renewals of what an import saves beside its checkpoints. */
export const RENEWAL_INTERVAL_MS = 3_600_000;

const ordinal = z.int().nonnegative();
const ranges = z.array(z.tuple([ordinal, ordinal]).readonly()).readonly();
const checkpointSchema = z.object({
  /** The epoch in which it was saved (`CheckpointEpoch`). */
  epoch: z.string(),
  /** In the order of the phases. */
  phases: z.array(z.object({ read: ordinal, open: ranges })),
  /** Whether the notes of the import's calls tell what all of them did. */
  counted: z.boolean().optional(),
});
const storedCheckpoint = z.string().transform(parseIfJson).pipe(checkpointSchema);

/** The saved progress of an unfinished import. */
export type Checkpoint = z.infer<typeof checkpointSchema>;

/**
 * Returns the key of an import's checkpoint. Each import has its own document; software with another section table or
 * format has other documents, since the numbers of records by phase mean something else there.
 * @param identity the import's identity: equal files with equal options have equal identities
 */
export function checkpointKey(
  identity: string,
  table: readonly Section[] = [organisationSection, ...sections],
): DocumentKey {
  const digest = hash('sha256', JSON.stringify([FORMAT, table, identity]), 'base64url');
  return { collection: 'instance', id: documentId('checkpoint', digest) };
}

/** Loads an import's checkpoint, if it was saved within a day. One that cannot be read counts as absent. */
export async function loadCheckpoint(
  store: DocumentStore,
  key: DocumentKey,
  now: Date,
): Promise<Checkpoint | undefined> {
  const [document] = await store.getMany([key], ['body', 'expiresAt']);
  if (document === undefined || isExpired(document.expiresAt, now)) return undefined;
  return storedCheckpoint.safeParse(document.body).data;
}

/**
 * Returns the expiry of what an import saves beside its checkpoints and renews once an interval: it outlasts every
 * checkpoint that is saved until then.
 */
export function noteExpiry(now: Date): string {
  return new Date(now.getTime() + MAX_AGE_MS + RENEWAL_INTERVAL_MS).toISOString();
}

/**
 * Saves a checkpoint for a day, in place of an earlier one. Uses no transaction: two calls of the same import may replace
 * each other's checkpoint, since both are true.
 */
export async function saveCheckpoint(
  store: DocumentStore,
  key: DocumentKey,
  checkpoint: Checkpoint,
  now: Date,
): Promise<void> {
  const fields = { body: JSON.stringify(checkpoint), expiresAt: new Date(now.getTime() + MAX_AGE_MS).toISOString() };
  if (await isApplied(store.commit([{ type: 'update', key, fields }]))) return;
  await isApplied(store.commit([{ type: 'create', key, fields }]));
}

/**
 * Deletes the checkpoints that have expired, from which nobody can resume.
 * @param base the database without the import's unfinished writes, for reading ranges
 */
export async function deleteExpiredCheckpoints(
  base: Pick<Store, 'snapshot'>,
  store: DocumentStore,
  now: Date,
): Promise<void> {
  await using snapshot = await base.snapshot();
  for await (const documents of snapshot.scan({ collection: 'instance', fields: ['expiresAt'] })) {
    const expired = documents.filter(({ id, expiresAt }) => isCheckpoint(id) && isExpired(expiresAt, now));
    if (expired.length === 0) continue;
    await store.commit(expired.map(({ id }) => ({ type: 'delete', key: { collection: 'instance', id } })));
  }
}

function isCheckpoint(id: string): boolean {
  return id.startsWith(documentId('checkpoint', ''));
}

/** Whether a note or checkpoint has expired. */
export function isExpired(expiresAt: string | undefined, now: Date): boolean {
  return expiresAt === undefined || Date.parse(expiresAt) <= now.getTime();
}

/** Whether the commit's preconditions held. If another import was faster, its checkpoint serves as well. */
async function isApplied(commit: Promise<void>): Promise<boolean> {
  try {
    await commit;
    return true;
  } catch (error) {
    if (error instanceof WriteConflictError) return false;
    throw error;
  }
}
