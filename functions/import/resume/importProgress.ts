import { type CheckpointEpoch, readCheckpointEpoch } from '../../../shared/checkpointEpoch.ts';
import { phases, type Section } from '../../../shared/organisation/section.ts';
import type { DocumentKey, DocumentStore } from '../../../shared/store/store.ts';
import type { OnConflict } from '../contract.ts';
import { type Checkpoint, checkpointKey, loadCheckpoint, RENEWAL_INTERVAL_MS, saveCheckpoint } from './checkpoint.ts';
import { OverwriteMark } from './overwriteMark.ts';
import { PhaseProgress } from './phaseProgress.ts';

/** The minimum number of settled records between two checkpoints. */
const RECORDS_PER_CHECKPOINT = 500;
/** Cloud Firestore recommends at most one write per second to a document. */
const MIN_SAVE_INTERVAL_MS = 1_000;

type Phase = Section['phase'];

/** The state that an import starts from. */
interface Start {
  readonly key: DocumentKey;
  readonly mark: OverwriteMark;
  /** The checkpoint to resume from. */
  readonly saved: Checkpoint | undefined;
  /** Whether there is a checkpoint, valid or not. */
  readonly isSaved: boolean;
}

/** What an import has saved beside its checkpoints, and must not expire before them. */
export interface Renewable {
  renew(store: DocumentStore): Promise<void>;
}

/** A call of an import, as far as its progress depends on it. */
interface ProgressContext {
  readonly store: DocumentStore;
  readonly now: () => Date;
  readonly onConflict: OnConflict;
  readonly notes: Renewable;
}

/** An import's progress, saved in checkpoints from which the same import resumes. */
export class ImportProgress {
  /** Whether the import resumed from a checkpoint. */
  readonly resumed: boolean;
  private readonly context: ProgressContext;
  private readonly key: DocumentKey;
  private readonly mark: OverwriteMark;
  private readonly deleteExpired: () => Promise<void>;
  private readonly phases: ReadonlyMap<Phase, PhaseProgress>;
  private readonly renewables: Renewable[];
  private nextRenewalAt = 0;
  private settledSinceSave = 0;
  private nextSaveAt = 0;
  private hasWritten: boolean;
  private isSaved: boolean;

  private constructor(
    context: ProgressContext,
    { key, mark, saved, isSaved }: Start,
    deleteExpired: () => Promise<void>,
  ) {
    this.context = context;
    this.key = key;
    this.mark = mark;
    this.renewables = [mark, context.notes];
    this.deleteExpired = deleteExpired;
    this.resumed = saved !== undefined;
    this.isSaved = isSaved;
    this.hasWritten = this.resumed;
    this.phases = new Map(phases.map((phase, index) => [phase, new PhaseProgress(saved?.phases[index])]));
  }

  /**
   * Loads an import's progress. A checkpoint of an epoch that has ended counts as absent: records may have been deleted
   * or overwritten since.
   * @param identity the import's identity: equal files with equal options have equal identities
   * @param deleteExpired deletes checkpoints that have expired; called when this import saves its first one
   */
  static async load(
    context: ProgressContext,
    identity: string,
    deleteExpired: () => Promise<void> = async () => {},
  ): Promise<ImportProgress> {
    const { store, now } = context;
    const key = checkpointKey(identity);
    // The epoch is read first: one that ends between the two reads is noticed then.
    const epoch: CheckpointEpoch = await readCheckpointEpoch(store, now());
    const found = await loadCheckpoint(store, key, now());
    const mark = new OverwriteMark(key, now, epoch);
    const saved = found?.epoch === mark.epoch ? found : undefined;
    return new ImportProgress(context, { key, mark, saved, isSaved: found !== undefined }, deleteExpired);
  }

  /** Whether an earlier call may have been interrupted while it overwrote records. */
  get mayHaveOverwritten(): boolean {
    return this.mark.wasSet;
  }

  /** The store for the import's records: where records are overwritten, it sets the mark that says so. */
  get store(): DocumentStore {
    const { store, onConflict } = this.context;
    return onConflict === 'overwrite' ? this.mark.watch(store) : store;
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
    const { epoch } = this.mark;
    if (this.hasWritten && epoch !== undefined) await this.saveIn(epoch);
    await this.renewIfDue();
  }

  private async saveIn(epoch: string): Promise<void> {
    if (!this.isSaved) await this.deleteExpired();
    this.isSaved = true;
    const states = [...this.phases.values()].map((phase) => phase.state());
    const { store, now } = this.context;
    await saveCheckpoint(store, this.key, { epoch, phases: states }, now());
  }

  /** Keeps something that the import has saved for as long as the import's checkpoints. */
  keep(renewable: Renewable): void {
    this.renewables.push(renewable);
  }

  private async renewIfDue(): Promise<void> {
    const now = this.context.now().getTime();
    if (now < this.nextRenewalAt) return;
    this.nextRenewalAt = now + RENEWAL_INTERVAL_MS;
    for (const renewable of this.renewables) await renewable.renew(this.context.store);
  }

  /** Deletes the checkpoint of an import that is complete. */
  async finish(): Promise<void> {
    const { store } = this.context;
    await this.mark.remove(store);
    if (this.isSaved) await store.commit([{ type: 'delete', key: this.key }]);
  }
}
