/** A list that keeps entries until it reaches its limits, and only counts the entries after that. */
export class BoundedList<Entry> {
  readonly entries: Entry[] = [];
  omitted = 0;
  private readonly limit: number;
  private readonly maxBytes: number;
  private bytes = 0;

  /** @param maxBytes the maximum size of all kept entries together, as JSON */
  constructor(limit: number, entries: Iterable<Entry> = [], maxBytes = Number.POSITIVE_INFINITY) {
    this.limit = limit;
    this.maxBytes = maxBytes;
    for (const entry of entries) this.add(entry);
  }

  add(entry: Entry): void {
    if (this.omitted === 0 && this.entries.length < this.limit && this.fits(entry)) this.entries.push(entry);
    else this.omitted++;
  }

  clear(): void {
    this.entries.length = 0;
    this.omitted = 0;
    this.bytes = 0;
  }

  private fits(entry: Entry): boolean {
    if (this.maxBytes === Number.POSITIVE_INFINITY) return true;
    this.bytes += Buffer.byteLength(JSON.stringify(entry)) + 1;
    return this.bytes <= this.maxBytes;
  }

  get size(): number {
    return this.entries.length + this.omitted;
  }
}
