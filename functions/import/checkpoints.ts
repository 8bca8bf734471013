import { z } from 'zod';
import { documentId } from '../../shared/store/documentId.ts';
import type { DocumentKey, DocumentStore } from '../../shared/store/store.ts';
import type { PhaseState } from './phaseProgress.ts';

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
const stored = z.array(z.object({ key: z.string(), savedAt: z.string(), phases: z.array(phaseState) }));

const KEY: DocumentKey = { collection: 'instance', id: documentId('checkpoints') };
/** What was so long ago may have been changed by others since. */
const MAX_AGE_MS = 24 * 3_600_000;
/** So that all of them fit into one document. */
const MAX_CHECKPOINTS = 8;
const MAX_AGAIN = 10_000;

/**
 * The checkpoint of an import, if it was saved within a day.
 * @param now ISO 8601, UTC
 */
export async function loadCheckpoint(store: DocumentStore, key: string, now: string): Promise<Checkpoint | undefined> {
  const [document] = await store.getMany([KEY], ['body']);
  return read(document?.body).find((one) => one.key === key && isRecent(one, now));
}

/** Saves a checkpoint in place of an earlier one; one with too many records to look at again is not saved. */
export async function saveCheckpoint(store: DocumentStore, checkpoint: Checkpoint): Promise<void> {
  if (checkpoint.phases.reduce((sum, { again }) => sum + again.length, 0) > MAX_AGAIN) return;
  await change(store, (all) => {
    const others = all.filter((one) => one.key !== checkpoint.key && isRecent(one, checkpoint.savedAt));
    return [checkpoint, ...others].slice(0, MAX_CHECKPOINTS);
  });
}

/** Takes away those checkpoints of which `isWrong` holds; writes nothing where there is none. */
export async function dropCheckpoints(store: DocumentStore, isWrong: (one: Checkpoint) => boolean): Promise<void> {
  const [document] = await store.getMany([KEY], ['body']);
  if (read(document?.body).some(isWrong)) await change(store, (all) => all.filter((one) => !isWrong(one)));
}

function change(store: DocumentStore, edit: (all: readonly Checkpoint[]) => readonly Checkpoint[]): Promise<void> {
  return store.transaction(async (transaction) => {
    const [document] = await transaction.getMany([KEY], ['body']);
    const edited = edit(read(document?.body));
    if (edited.length === 0) return transaction.write([{ type: 'delete', key: KEY }]);
    const type = document === undefined ? 'create' : 'update';
    transaction.write([{ type, key: KEY, fields: { body: JSON.stringify(edited) } }]);
  });
}

function read(body = '[]'): readonly Checkpoint[] {
  return stored.parse(JSON.parse(body));
}

function isRecent({ savedAt }: Checkpoint, now: string): boolean {
  return Date.parse(now) - Date.parse(savedAt) < MAX_AGE_MS;
}
