import { phases, type Section } from '../../../shared/organisation/section.ts';
import type { DocumentKey, DocumentStore, Store } from '../../../shared/store/store.ts';
import {
  type Checkpoint,
  deleteExpiredCheckpoints,
  loadCheckpoint,
  RENEWAL_INTERVAL_MS,
  saveCheckpoint,
} from './checkpoint.ts';
import type { ImportNotes } from './notes.ts';
import type { OverwriteMark } from './overwriteMark.ts';
import { PhaseProgress } from './phaseProgress.ts';

/** The minimum number of settled records between two checkpoints. */
const RECORDS_PER_CHECKPOINT = 500;
/** Cloud Firestore recommends at most one write per second to a document. */
const MIN_SAVE_INTERVAL_MS = 1_000;

type Phase = Section['phase'];

/** A call of an import, as far as its progress depends on it. */
interface ProgressContext {
  readonly store: DocumentStore;
  readonly base: Pick<Store, 'snapshot'>;
  readonly now: () => Date;
  readonly notes: Pick<ImportNotes, 'renew' | 'readEarlier'>;
}

/** An import's progress, saved in checkpoints from which the same import resumes. */
export class ImportProgress {
  /** Whether the import continues one that was interrupted. */
  readonly resumed: boolean;
  /** Whether the notes of the import's calls tell what all of them did. */
  readonly counted: boolean;
  private readonly context: ProgressContext;
  private readonly key: DocumentKey;
  private readonly mark: OverwriteMark;
  private readonly phases: ReadonlyMap<Phase, PhaseProgress>;
  private nextRenewalAt = 0;
  private settledSinceSave = 0;
  private nextSaveAt = 0;
  private hasWritten: boolean;
  private isSaved: boolean;

  private constructor(
    context: ProgressContext,
    key: DocumentKey,
    mark: OverwriteMark,
    { found, earlier }: { found: Checkpoint | undefined; earlier: Awaited<ReturnType<ImportNotes['readEarlier']>> },
  ) {
    this.context = context;
    this.key = key;
    this.mark = mark;
    const saved = found?.epoch === mark.epoch ? found : undefined;
    // One that was interrupted before its first checkpoint has left notes only.
    const continues = found === undefined && earlier.continue;
    this.resumed = saved !== undefined || continues;
    this.counted = found === undefined ? continues || !earlier.exist : saved?.counted === true;
    this.isSaved = found !== undefined;
    this.hasWritten = this.resumed;
    this.phases = new Map(phases.map((phase, index) => [phase, new PhaseProgress(saved?.phases[index])]));
  }

  /**
   * Loads an import's progress. A checkpoint of an epoch that has ended counts as absent: records may have been deleted
   * or overwritten since.
   * @param key the key of the import's checkpoint
   * @param mark the import's mark, which is read again
   */
  static async load(context: ProgressContext, key: DocumentKey, mark: OverwriteMark): Promise<ImportProgress> {
    const { store, now, notes } = context;
    // The epoch is read first: one that ends between the two reads is noticed then.
    await mark.load(store);
    const found = await loadCheckpoint(store, key, now());
    return new ImportProgress(context, key, mark, { found, earlier: await notes.readEarlier() });
  }

  forPhase(phase: Phase): PhaseProgress {
    const progress = this.phases.get(phase);
    if (progress === undefined) throw new Error(`unknown phase ${phase}`);
    return progress;
  }

  /** Records that an open record has an outcome, whether that took a write, and whether to revisit it. */
  settle(phase: Phase, ordinal: number, { written, revisit }: { written: boolean; revisit: boolean }): void {
    if (!revisit) this.forPhase(phase).close(ordinal);
    this.hasWritten ||= written;
    this.settledSinceSave++;
  }

  /** Saves a checkpoint if one is due. */
  async saveIfDue(): Promise<void> {
    if (this.settledSinceSave >= RECORDS_PER_CHECKPOINT && performance.now() >= this.nextSaveAt) await this.save();
  }

  /** Saves a checkpoint, unless the import has written nothing, or nobody could resume from it. */
  async save(): Promise<void> {
    this.settledSinceSave = 0;
    this.nextSaveAt = performance.now() + MIN_SAVE_INTERVAL_MS;
    const { base, store, now } = this.context;
    const { epoch } = this.mark;
    const wasSaved = this.isSaved;
    if (this.hasWritten && epoch !== undefined) await this.saveIn(epoch);
    await this.renewIfDue();
    if (this.isSaved && !wasSaved) await deleteExpiredCheckpoints(base, store, now());
  }

  private async saveIn(epoch: string): Promise<void> {
    const { store, now } = this.context;
    this.isSaved = true;
    const phaseStates = [...this.phases.values()].map((phase) => phase.state());
    const checkpoint: Checkpoint = { epoch, phases: phaseStates, counted: this.counted };
    await saveCheckpoint(store, this.key, checkpoint, now());
  }

  private async renewIfDue(): Promise<void> {
    const { store, now, notes } = this.context;
    const time = now().getTime();
    if (time < this.nextRenewalAt) return;
    this.nextRenewalAt = time + RENEWAL_INTERVAL_MS;
    await this.mark.renew(store);
    await notes.renew(store);
  }

  /** Deletes the checkpoint of an import that is complete. */
  async finish(): Promise<void> {
    const { store } = this.context;
    await this.mark.remove(store);
    if (this.isSaved) await store.commit([{ type: 'delete', key: this.key }]);
  }
}
