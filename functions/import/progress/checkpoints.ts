import { hash } from 'node:crypto';
import { z } from 'zod';
import { documentId } from '../../../shared/store/documentKey.ts';
import {
  type DocumentKey,
  type DocumentStore,
  type StoredDocument,
  WriteConflict,
} from '../../../shared/store/store.ts';
import type { PhaseState } from './importProgress.ts';

/** How far an import has come that did not end. */
export interface Checkpoint {
  /** What the import was: its document and its options. */
  readonly key: string;
  /** ISO 8601, UTC. */
  readonly savedAt: string;
  /** By phase, from the first on. */
  readonly phases: readonly PhaseState[];
}

const phaseState = z.object({ settled: z.int(), again: z.array(z.int()) });
const stored = z.object({ key: z.string(), savedAt: z.string(), phases: z.array(phaseState) });

/** What was so long ago may have been changed by others since. */
const MAX_AGE_MS = 24 * 3_600_000;
/** So that a checkpoint fits into a document, and takes no time to write. */
const MAX_AGAIN = 10_000;
/** As many imports as have checkpoints at once; two that share a place only take each other's away. */
const PLACES = 16;

const places = Array.from(
  { length: PLACES },
  (_, place): DocumentKey => ({ collection: 'instance', id: documentId('checkpoint', String(place)) }),
);

/**
 * The checkpoint of an import, if it was saved within a day.
 * @param now ISO 8601, UTC
 */
export async function loadCheckpoint(store: DocumentStore, key: string, now: string): Promise<Checkpoint | undefined> {
  const [document] = await store.getMany([placeOf(key)], ['body']);
  const found = document && read(document);
  return found?.key === key && Date.parse(now) - Date.parse(found.savedAt) < MAX_AGE_MS ? found : undefined;
}

/**
 * Saves a checkpoint in place of an earlier one; one with too many records to look at again is not saved. Without a
 * transaction: one whose process ends would lock the document, and so hold up the import that wants to go on.
 */
export async function saveCheckpoint(store: DocumentStore, checkpoint: Checkpoint): Promise<void> {
  if (checkpoint.phases.reduce((sum, { again }) => sum + again.length, 0) > MAX_AGAIN) return;
  const place = placeOf(checkpoint.key);
  const fields = { body: JSON.stringify(checkpoint) };
  if (await isDone(store.commit([{ type: 'update', key: place, fields }]))) return;
  await isDone(store.commit([{ type: 'create', key: place, fields }]));
}

/** Takes the checkpoint of an import away. */
export async function dropCheckpoint(store: DocumentStore, key: string): Promise<void> {
  await store.commit([{ type: 'delete', key: placeOf(key) }]);
}

/** Takes the checkpoints of all other imports away; writes nothing where there is none. */
export async function dropOtherCheckpoints(store: DocumentStore, key: string): Promise<void> {
  const documents = await store.getMany(places, ['body']);
  const others = places.filter((_place, index) => {
    const document = documents[index];
    return document !== undefined && read(document).key !== key;
  });
  await store.commit(others.map((place) => ({ type: 'delete', key: place })));
}

function placeOf(key: string): DocumentKey {
  const place = places[Number.parseInt(hash('sha256', key).slice(0, 8), 16) % PLACES];
  if (place === undefined) throw new Error('there are no places for checkpoints');
  return place;
}

function read({ body = '' }: StoredDocument): Checkpoint {
  return stored.parse(JSON.parse(body));
}

/** Whether a write met what it needed; where another import was quicker, its checkpoint is as good as this one. */
async function isDone(commit: Promise<void>): Promise<boolean> {
  try {
    await commit;
    return true;
  } catch (reason) {
    if (reason instanceof WriteConflict) return false;
    throw reason;
  }
}
