import { hash } from 'node:crypto';
import { z } from 'zod';
import { phases, type Section } from '../../../shared/organisation/section.ts';
import {
  type DocumentKey,
  type DocumentStore,
  documentId,
  type StoredDocument,
  WriteConflictError,
} from '../../../shared/store/store.ts';
import type { BatchContext } from '../write/batchContext.ts';

/** How many records are decided between two checkpoints, at least. */
const RECORDS_BETWEEN = 500;
/** Cloud Firestore wants a document to be written about once a second, not more often. */
const MILLISECONDS_BETWEEN = 1_000;

type Phase = Section['phase'];

/** How far an import has come, kept in the store so that the same import goes on from there. */
export class ImportProgress {
  /** Whether an earlier call of the same import had stopped in the middle. */
  readonly resumed: boolean;
  private readonly context: BatchContext;
  private readonly key: string;
  private readonly phases: ReadonlyMap<Phase, PhaseProgress>;
  private settled = 0;
  private earliest = 0;
  private hasWritten: boolean;
  private isSaved: boolean;

  private constructor(context: BatchContext, key: string, saved: Awaited<ReturnType<typeof loadCheckpoint>>) {
    this.context = context;
    this.key = key;
    this.resumed = saved !== undefined;
    this.isSaved = this.resumed;
    this.hasWritten = this.resumed;
    this.phases = new Map(phases.map((phase, index) => [phase, new PhaseProgress(saved?.phases[index])]));
  }

  /**
   * Finds out how far an import has come.
   * @param key what the import is: the same document with the same options has the same
   */
  static async load(context: BatchContext, key: string): Promise<ImportProgress> {
    const { store, stamp, onConflict } = context;
    // What is overwritten now, other imports must not take for what they had brought in.
    if (onConflict === 'overwrite') await dropOtherCheckpoints(store, key);
    return new ImportProgress(context, key, await loadCheckpoint(store, key, stamp));
  }

  of(phase: Phase): PhaseProgress {
    const progress = this.phases.get(phase);
    if (progress === undefined) throw new Error(`there is no phase ${phase}`);
    return progress;
  }

  /** Says that a record is decided, and whether that took a write. */
  settle(phase: Phase, ordinal: number, { written, lookAgain }: { written: boolean; lookAgain: boolean }): void {
    this.of(phase).settle(ordinal, lookAgain);
    this.hasWritten ||= written;
    this.settled++;
  }

  /** Saves a checkpoint when it is time for one. An import that finds all as it is writes none. */
  async saveNowAndThen(): Promise<void> {
    if (this.settled >= RECORDS_BETWEEN && performance.now() >= this.earliest) await this.save();
  }

  /** Saves how far the import has come, if it has written anything. */
  async save(): Promise<void> {
    this.settled = 0;
    this.earliest = performance.now() + MILLISECONDS_BETWEEN;
    if (!this.hasWritten) return;
    this.isSaved = true;
    const states = [...this.phases.values()].map((phase) => phase.state());
    await saveCheckpoint(this.store, { key: this.key, savedAt: this.context.stamp, phases: states });
  }

  /** Says that the import has come to its end. */
  async finish(): Promise<void> {
    if (this.isSaved) await dropCheckpoint(this.store, this.key);
  }

  private get store(): DocumentStore {
    return this.context.store;
  }
}

/** How far one phase of an import has come, as it is kept. */
export interface PhaseState {
  /** How many records, from the first on, were decided. */
  readonly settled: number;
  /** Those of them to be looked at again: not in, or with something to tell of. */
  readonly revisit: readonly number[];
}

/** How far one phase of an import has come; records are numbered in the document's order. */
export class PhaseProgress {
  private readonly settledBefore: number;
  private readonly revisitBefore: ReadonlySet<number>;
  private readonly revisit: Set<number>;
  private settled: number;

  constructor(before: PhaseState = { settled: 0, revisit: [] }) {
    this.settledBefore = before.settled;
    this.revisitBefore = new Set(before.revisit);
    this.revisit = new Set(before.revisit);
    this.settled = before.settled;
  }

  /** Whether an earlier call has brought the record in, with nothing to tell of it. */
  isDone(ordinal: number): boolean {
    return ordinal < this.settledBefore && !this.revisitBefore.has(ordinal);
  }

  /** Whether an earlier call has brought in all records of the phase. */
  isComplete(records: number): boolean {
    return this.settledBefore >= records && this.revisitBefore.size === 0;
  }

  /** Says that a record, and all before it, are decided. */
  settle(ordinal: number, lookAgain: boolean): void {
    this.settled = Math.max(this.settled, ordinal + 1);
    this.mark(ordinal, lookAgain);
  }

  /** Says whether a record is to be looked at again, be those before it decided or not. */
  mark(ordinal: number, lookAgain: boolean): void {
    if (lookAgain) this.revisit.add(ordinal);
    else this.revisit.delete(ordinal);
  }

  state(): PhaseState {
    return { settled: this.settled, revisit: [...this.revisit] };
  }
}

/** How far an import has come that did not end. */
export interface Checkpoint {
  /** What the import was: its document and its options. */
  readonly key: string;
  /** ISO 8601, UTC. */
  readonly savedAt: string;
  /** By phase, from the first on. */
  readonly phases: readonly PhaseState[];
}

const phaseState = z.object({ settled: z.int(), revisit: z.array(z.int()) });
const stored = z.object({ key: z.string(), savedAt: z.string(), phases: z.array(phaseState) });

/** What was so long ago may have been changed by others since. */
const MAX_AGE_MS = 24 * 3_600_000;
/** So that a checkpoint fits into a document, and takes no time to write. */
const MAX_REVISITS = 10_000;
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
  const [document] = await store.getMany([checkpointKey(key)], ['body']);
  const found = document && read(document);
  return found?.key === key && Date.parse(now) - Date.parse(found.savedAt) < MAX_AGE_MS ? found : undefined;
}

/**
 * Saves a checkpoint in place of an earlier one; one with too many records to look at again is not saved. Without a
 * transaction: one whose process ends would lock the document, and so hold up the import that wants to go on.
 */
async function saveCheckpoint(store: DocumentStore, checkpoint: Checkpoint): Promise<void> {
  if (checkpoint.phases.reduce((sum, { revisit }) => sum + revisit.length, 0) > MAX_REVISITS) return;
  const place = checkpointKey(checkpoint.key);
  const fields = { body: JSON.stringify(checkpoint) };
  if (await isDone(store.commit([{ type: 'update', key: place, fields }]))) return;
  await isDone(store.commit([{ type: 'create', key: place, fields }]));
}

/** Takes the checkpoint of an import away. */
async function dropCheckpoint(store: DocumentStore, key: string): Promise<void> {
  await store.commit([{ type: 'delete', key: checkpointKey(key) }]);
}

/** Takes the checkpoints of all other imports away; writes nothing where there is none. */
async function dropOtherCheckpoints(store: DocumentStore, key: string): Promise<void> {
  const documents = await store.getMany(places, ['body']);
  const others = places.filter((_place, index) => {
    const document = documents[index];
    return document !== undefined && read(document)?.key !== key;
  });
  await store.commit(others.map((place) => ({ type: 'delete', key: place })));
}

function checkpointKey(key: string): DocumentKey {
  const place = places[Number.parseInt(hash('sha256', key).slice(0, 8), 16) % PLACES];
  if (place === undefined) throw new Error('there are no places for checkpoints');
  return place;
}

/** Reads a stored checkpoint; one of another shape, which another version wrote, counts as absent. */
function read({ body = '' }: StoredDocument): Checkpoint | undefined {
  return stored.safeParse(JSON.parse(body)).data;
}

/** Whether a write met what it needed; where another import was quicker, its checkpoint is as good as this one. */
async function isDone(commit: Promise<void>): Promise<boolean> {
  try {
    await commit;
    return true;
  } catch (reason) {
    if (reason instanceof WriteConflictError) return false;
    throw reason;
  }
}
