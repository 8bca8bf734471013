/** Numbers by name, such as the numbers of records by section. Names with the number 0 are absent. */
export type Counts = Record<string, number>;

/** Returns the number of a name that a file may contain, such as `constructor`, which every object inherits. */
export function countOf(counts: Readonly<Counts>, name: string): number {
  return Object.hasOwn(counts, name) ? (counts[name] ?? 0) : 0;
}

/** Adds `by` to the number of a name. */
export function increase(counts: Counts, name: string, by = 1): void {
  if (by <= 0) return;
  const value = countOf(counts, name) + by;
  // An assignment would set the prototype.
  if (name === '__proto__')
    Object.defineProperty(counts, name, { value, writable: true, enumerable: true, configurable: true });
  else counts[name] = value;
}

/** Adds up the numbers with the same names. */
export function addCounts(first: Readonly<Counts> = {}, second: Readonly<Counts> = {}): Counts {
  const sum = { ...first };
  for (const [name, count] of Object.entries(second)) increase(sum, name, count);
  return sum;
}

/** Returns the sum of numbers by name. */
export function total(counts: Readonly<Counts>): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0);
}
