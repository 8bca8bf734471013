import { OrdinalRanges, type Ranges } from './ordinalRanges.ts';

/** A phase's progress as a checkpoint stores it. */
export interface PhaseState {
  /** The number of settled records, counted from the first. */
  readonly settled: number;
  /** Ordinals of records to revisit: not imported, with an issue or warning to report, or between two such records. */
  readonly revisit: Ranges;
}

/** A phase's progress. Records are numbered in the file's order. */
export class PhaseProgress {
  private readonly savedSettled: number;
  private readonly savedRevisit: OrdinalRanges;
  private readonly revisit: OrdinalRanges;
  private settled: number;

  constructor(saved: PhaseState = { settled: 0, revisit: [] }) {
    this.savedSettled = saved.settled;
    this.savedRevisit = new OrdinalRanges(saved.revisit);
    this.revisit = new OrdinalRanges(saved.revisit);
    this.settled = saved.settled;
  }

  /** Whether an earlier call imported the record without an issue or warning. */
  isDone(ordinal: number): boolean {
    return ordinal < this.savedSettled && !this.savedRevisit.has(ordinal);
  }

  /** Whether an earlier call imported all records of the phase. */
  isComplete(records: number): boolean {
    return this.savedSettled >= records && this.savedRevisit.isEmpty;
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
    return { settled: this.settled, revisit: this.revisit.toJson() };
  }
}
