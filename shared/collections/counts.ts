/** A number for each name, such as the number of records for each section. Names with the number 0 are absent. */
export type Counts = Record<string, number>;

/**
 * Returns the number for a name; 0 for an absent name. Every object inherits properties such as `constructor`, and a
 * file may contain such a name. So only own properties count.
 */
export function countOf(counts: Readonly<Counts>, name: string): number {
  return Object.hasOwn(counts, name) ? (counts[name] ?? 0) : 0;
}

export function increase(counts: Counts, name: string, by = 1): void {
  if (by <= 0) return;
  const value = countOf(counts, name) + by;
  // With this name, an assignment would set the object's prototype, and not add a property.
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
