/** Ranges of ordinals: the start of each, inclusive, and its end, exclusive. */
export type Ranges = readonly (readonly [start: number, end: number])[];

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
