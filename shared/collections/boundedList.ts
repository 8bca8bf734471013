/** The first entries of a list, and the number of all others, so that memory does not grow with them. */
export class BoundedList<Entry> {
  readonly entries: Entry[] = [];
  /** The number of entries beyond the limit. */
  omitted = 0;
  private readonly limit: number;

  constructor(limit: number, entries: Iterable<Entry> = []) {
    this.limit = limit;
    for (const entry of entries) this.add(entry);
  }

  add(entry: Entry): void {
    if (this.entries.length < this.limit) this.entries.push(entry);
    else this.omitted++;
  }

  clear(): void {
    this.entries.length = 0;
    this.omitted = 0;
  }

  /** The number of all entries. */
  get size(): number {
    return this.entries.length + this.omitted;
  }
}
