/** Numbers by name, such as the number of records by section. A name with the number 0 is absent. */
export type Counts = Record<string, number>;

/** Ignores inherited properties, because a file may contain a name such as `constructor`. */
export function countOf(counts: Readonly<Counts>, name: string): number {
  return Object.hasOwn(counts, name) ? (counts[name] ?? 0) : 0;
}

export function increase(counts: Counts, name: string, by = 1): void {
  if (by <= 0) return;
  const value = countOf(counts, name) + by;
  // An assignment to `__proto__` would set the prototype instead.
  if (name === '__proto__')
    Object.defineProperty(counts, name, { value, writable: true, enumerable: true, configurable: true });
  else counts[name] = value;
}

export function addCounts(first: Readonly<Counts> = {}, second: Readonly<Counts> = {}): Counts {
  const sum = { ...first };
  for (const [name, count] of Object.entries(second)) increase(sum, name, count);
  return sum;
}

export function total(counts: Readonly<Counts>): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0);
}
