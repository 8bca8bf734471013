import { OrdinalRanges, type Ranges } from './ordinalRanges.ts';

/** A phase's progress as a checkpoint stores it: all records before `read` are imported, except the open ones. */
export interface PhaseState {
  /** The number of records that the phase has read, counted from the first. */
  readonly read: number;
  /** Ordinals of records without an outcome, with an issue or warning to report again, or between two such records. */
  readonly open: Ranges;
}

/**
 * A phase's progress. Records are numbered in the file's order. A record is open from the moment it is read, and only its
 * own outcome closes it. So a checkpoint, whenever it is saved and whatever was interrupted, covers no record without an
 * outcome, in whichever order batches end.
 */
export class PhaseProgress {
  private readonly savedRead: number;
  private readonly savedOpen: OrdinalRanges;
  private readonly openRecords: OrdinalRanges;
  private read: number;

  constructor(saved: PhaseState = { read: 0, open: [] }) {
    this.savedRead = saved.read;
    this.savedOpen = new OrdinalRanges(saved.open);
    this.openRecords = new OrdinalRanges(saved.open);
    this.read = saved.read;
  }

  /** Whether an earlier call imported all records of the phase. */
  isComplete(records: number): boolean {
    return this.savedRead >= records && this.savedOpen.isEmpty;
  }

  /** Opens a record that was read; returns false if an earlier call imported it without an issue or warning. */
  open(ordinal: number): boolean {
    if (ordinal < this.savedRead && !this.savedOpen.has(ordinal)) return false;
    this.openRecords.add(ordinal);
    this.read = Math.max(this.read, ordinal + 1);
    return true;
  }

  /** Closes a record whose outcome needs no further report. */
  close(ordinal: number): void {
    this.openRecords.delete(ordinal);
  }

  state(): PhaseState {
    return { read: this.read, open: this.openRecords.toJson() };
  }
}
