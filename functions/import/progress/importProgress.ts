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

/** The minimum number of settled records between two checkpoints. */
const RECORDS_PER_CHECKPOINT = 500;
/** Cloud Firestore recommends at most one write per second to a document. */
const MIN_SAVE_INTERVAL_MS = 1_000;

type Phase = Section['phase'];

/** An import's progress, saved in checkpoints from which the same import resumes. */
export class ImportProgress {
  /** Whether the import resumed from a checkpoint. */
  readonly resumed: boolean;
  private readonly context: BatchContext;
  private readonly key: string;
  private readonly phases: ReadonlyMap<Phase, PhaseProgress>;
  private settledSinceSave = 0;
  private nextSaveAt = 0;
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
   * Loads an import's progress.
   * @param key the import's identity: equal files with equal options have equal keys
   */
  static async load(context: BatchContext, key: string): Promise<ImportProgress> {
    const { store, stamp, onConflict } = context;
    // Other imports must not treat overwritten records as already imported.
    if (onConflict === 'overwrite') await deleteOtherCheckpoints(store, key);
    return new ImportProgress(context, key, await loadCheckpoint(store, key, stamp));
  }

  forPhase(phase: Phase): PhaseProgress {
    const progress = this.phases.get(phase);
    if (progress === undefined) throw new Error(`unknown phase ${phase}`);
    return progress;
  }

  /** Records that a record is settled, whether that took a write, and whether to revisit it. */
  settle(phase: Phase, ordinal: number, { written, revisit }: { written: boolean; revisit: boolean }): void {
    this.forPhase(phase).settle(ordinal, revisit);
    this.hasWritten ||= written;
    this.settledSinceSave++;
  }

  /** Saves a checkpoint if one is due. */
  async saveIfDue(): Promise<void> {
    if (this.settledSinceSave >= RECORDS_PER_CHECKPOINT && performance.now() >= this.nextSaveAt) await this.save();
  }

  /** Saves a checkpoint, unless the import has written nothing. */
  async save(): Promise<void> {
    this.settledSinceSave = 0;
    this.nextSaveAt = performance.now() + MIN_SAVE_INTERVAL_MS;
    if (!this.hasWritten) return;
    this.isSaved = true;
    const states = [...this.phases.values()].map((phase) => phase.state());
    await saveCheckpoint(this.store, { key: this.key, savedAt: this.context.stamp, phases: states });
  }

  /** Deletes the checkpoint of an import that is complete. */
  async finish(): Promise<void> {
    if (this.isSaved) await deleteCheckpoint(this.store, this.key);
  }

  private get store(): DocumentStore {
    return this.context.store;
  }
}

/** A phase's progress as a checkpoint stores it. */
export interface PhaseState {
  /** The number of settled records, counted from the first. */
  readonly settled: number;
  /** Ordinals of settled records to revisit: not imported, or with an issue or warning to report. */
  readonly revisit: readonly number[];
}

/** A phase's progress. Records are numbered in the file's order. */
export class PhaseProgress {
  private readonly savedSettled: number;
  private readonly savedRevisit: ReadonlySet<number>;
  private readonly revisit: Set<number>;
  private settled: number;

  constructor(saved: PhaseState = { settled: 0, revisit: [] }) {
    this.savedSettled = saved.settled;
    this.savedRevisit = new Set(saved.revisit);
    this.revisit = new Set(saved.revisit);
    this.settled = saved.settled;
  }

  /** Whether an earlier call imported the record without an issue or warning. */
  isDone(ordinal: number): boolean {
    return ordinal < this.savedSettled && !this.savedRevisit.has(ordinal);
  }

  /** Whether an earlier call imported all records of the phase. */
  isComplete(records: number): boolean {
    return this.savedSettled >= records && this.savedRevisit.size === 0;
  }

  /** Records that a record, and all before it, are settled. */
  settle(ordinal: number, revisit: boolean): void {
    this.settled = Math.max(this.settled, ordinal + 1);
    this.mark(ordinal, revisit);
  }

  /** Marks whether to revisit a record, without settling those before it. */
  mark(ordinal: number, revisit: boolean): void {
    if (revisit) this.revisit.add(ordinal);
    else this.revisit.delete(ordinal);
  }

  state(): PhaseState {
    return { settled: this.settled, revisit: [...this.revisit] };
  }
}

/** The saved progress of an unfinished import. */
export interface Checkpoint {
  /** The import's identity: the digest of its file, and its options. */
  readonly key: string;
  /** ISO 8601, UTC. */
  readonly savedAt: string;
  /** In the order of the phases. */
  readonly phases: readonly PhaseState[];
}

const phaseState = z.object({ settled: z.int(), revisit: z.array(z.int()) });
const checkpointSchema = z.object({ key: z.string(), savedAt: z.string(), phases: z.array(phaseState) });

/** Records imported longer ago may have been changed since. */
const MAX_AGE_MS = 24 * 3_600_000;
/** Keeps a checkpoint small enough for a document and a quick write. */
const MAX_REVISITS = 10_000;
/** Limits the number of stored checkpoints. Two imports that share a slot only replace each other's checkpoint. */
const SLOTS = 16;

const slots = Array.from(
  { length: SLOTS },
  (_, slot): DocumentKey => ({ collection: 'instance', id: documentId('checkpoint', String(slot)) }),
);

/**
 * Loads an import's checkpoint, if it was saved within a day.
 * @param now ISO 8601, UTC
 */
export async function loadCheckpoint(store: DocumentStore, key: string, now: string): Promise<Checkpoint | undefined> {
  const [document] = await store.getMany([checkpointKey(key)], ['body']);
  const checkpoint = document && parseCheckpoint(document);
  if (checkpoint?.key !== key) return undefined;
  return Date.parse(now) - Date.parse(checkpoint.savedAt) < MAX_AGE_MS ? checkpoint : undefined;
}

/**
 * Saves a checkpoint in place of an earlier one, unless it has too many records to revisit. Uses no transaction: a
 * process that dies within one leaves the document locked, which would delay the resumed import.
 */
async function saveCheckpoint(store: DocumentStore, checkpoint: Checkpoint): Promise<void> {
  if (checkpoint.phases.reduce((sum, { revisit }) => sum + revisit.length, 0) > MAX_REVISITS) return;
  const slot = checkpointKey(checkpoint.key);
  const fields = { body: JSON.stringify(checkpoint) };
  if (await isApplied(store.commit([{ type: 'update', key: slot, fields }]))) return;
  await isApplied(store.commit([{ type: 'create', key: slot, fields }]));
}

async function deleteCheckpoint(store: DocumentStore, key: string): Promise<void> {
  await store.commit([{ type: 'delete', key: checkpointKey(key) }]);
}

/** Deletes the checkpoints of all other imports. */
async function deleteOtherCheckpoints(store: DocumentStore, key: string): Promise<void> {
  const documents = await store.getMany(slots, ['body']);
  const others = slots.filter((_slot, index) => {
    const document = documents[index];
    return document !== undefined && parseCheckpoint(document)?.key !== key;
  });
  await store.commit(others.map((slot) => ({ type: 'delete', key: slot })));
}

function checkpointKey(key: string): DocumentKey {
  const slot = slots[Number.parseInt(hash('sha256', key).slice(0, 8), 16) % SLOTS];
  if (slot === undefined) throw new Error('no slot for the checkpoint');
  return slot;
}

/** Parses a stored checkpoint; returns undefined for the format of another version. */
function parseCheckpoint({ body = '' }: StoredDocument): Checkpoint | undefined {
  return checkpointSchema.safeParse(JSON.parse(body)).data;
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
