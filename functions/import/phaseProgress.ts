/** How far one phase of an import has come, as it is kept. */
export interface PhaseState {
  /** How many records, from the first on, were decided. */
  readonly settled: number;
  /** Those of them to be looked at again: not in, or with something to tell of. */
  readonly again: readonly number[];
}

/** How far one phase of an import has come; records are numbered in the document's order. */
export class PhaseProgress {
  private readonly settledBefore: number;
  private readonly againBefore: ReadonlySet<number>;
  private readonly again: Set<number>;
  private settled: number;

  constructor(before: PhaseState = { settled: 0, again: [] }) {
    this.settledBefore = before.settled;
    this.againBefore = new Set(before.again);
    this.again = new Set(before.again);
    this.settled = before.settled;
  }

  /** Whether an earlier call has brought the record in, with nothing to tell of it. */
  isDone(ordinal: number): boolean {
    return ordinal < this.settledBefore && !this.againBefore.has(ordinal);
  }

  /** Whether an earlier call has brought in all records of the phase. */
  isComplete(records: number): boolean {
    return this.settledBefore >= records && this.againBefore.size === 0;
  }

  /** Says that a record, and all before it, are decided. */
  settle(ordinal: number, lookAgain: boolean): void {
    this.settled = Math.max(this.settled, ordinal + 1);
    this.mark(ordinal, lookAgain);
  }

  /** Says whether a record is to be looked at again, be those before it decided or not. */
  mark(ordinal: number, lookAgain: boolean): void {
    if (lookAgain) this.again.add(ordinal);
    else this.again.delete(ordinal);
  }

  state(): PhaseState {
    return { settled: this.settled, again: [...this.again] };
  }
}
