/** Ranges of ordinals: the start of each, inclusive, and its end, exclusive. */
type Ranges = readonly (readonly [start: number, end: number])[];

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

/** More ranges than this are joined, so that a checkpoint fits into a document whatever an import meets. */
const MAX_RANGES = 2_000;

/**
 * A set of ordinals, kept as ascending ranges in bounded memory. When there are too many ranges, the closest ones are
 * joined: the set then also contains the ordinals between them.
 */
export class OrdinalRanges {
  private ranges: [start: number, end: number][];

  constructor(ranges: Ranges = []) {
    this.ranges = ranges.map(([start, end]) => [start, end]);
  }

  get isEmpty(): boolean {
    return this.ranges.length === 0;
  }

  has(ordinal: number): boolean {
    return (this.ranges[this.find(ordinal)]?.[0] ?? Number.POSITIVE_INFINITY) <= ordinal;
  }

  add(ordinal: number): void {
    const at = this.find(ordinal);
    const [before, range] = [this.ranges[at - 1], this.ranges[at]];
    if (range !== undefined && range[0] <= ordinal) return;
    const [extendsBefore, extendsNext] = [before?.[1] === ordinal, range?.[0] === ordinal + 1];
    if (before !== undefined && range !== undefined && extendsBefore && extendsNext) {
      before[1] = range[1];
      this.ranges.splice(at, 1);
    } else if (before !== undefined && extendsBefore) before[1] = ordinal + 1;
    else if (range !== undefined && extendsNext) range[0] = ordinal;
    else this.insert(at, [ordinal, ordinal + 1]);
  }

  delete(ordinal: number): void {
    const at = this.find(ordinal);
    const range = this.ranges[at];
    if (range === undefined || range[0] > ordinal) return;
    const [start, end] = range;
    if (start === ordinal && end === ordinal + 1) this.ranges.splice(at, 1);
    else if (start === ordinal) range[0] = ordinal + 1;
    else if (end === ordinal + 1) range[1] = ordinal;
    else {
      range[0] = ordinal + 1;
      this.insert(at, [start, ordinal]);
    }
  }

  toJson(): Ranges {
    return this.ranges.map(([start, end]) => [start, end]);
  }

  /** Returns the position of the first range that ends after an ordinal. */
  private find(ordinal: number): number {
    let [low, high] = [0, this.ranges.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.ranges[middle]?.[1] ?? 0) <= ordinal) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  private insert(at: number, range: [start: number, end: number]): void {
    this.ranges.splice(at, 0, range);
    if (this.ranges.length > MAX_RANGES) this.ranges = joinClosest(this.ranges, MAX_RANGES / 2);
  }
}

/** Joins the closest of ascending ranges, until at most `count` are left. */
function joinClosest(ranges: readonly [start: number, end: number][], count: number): [start: number, end: number][] {
  const gaps = ranges.slice(1).map(([start], index) => start - (ranges[index]?.[1] ?? 0));
  const widest = gaps.toSorted((a, b) => b - a)[count - 1] ?? 0;
  const joined: [start: number, end: number][] = [];
  for (const [index, [start, end]] of ranges.entries()) {
    const last = joined.at(-1);
    // The gaps that stay are wider than the first one too many, so there are less than `count` of them.
    if (last === undefined || (gaps[index - 1] ?? 0) > widest) joined.push([start, end]);
    else last[1] = end;
  }
  return joined;
}
