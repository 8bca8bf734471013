/** Names with more characters than this are not compared. */
export const MAX_NAME_CHARACTERS = 64;
/**
 * Two names are similar if at most this many characters differ. For short names, the maximum is a third of their
 * length.
 */
const MAX_DIFFERENCES = 3;

/**
 * Returns the known name that is similar to an unknown name (ignoring case and separators), or that ends with the
 * unknown name.
 * @example
 *     nearestName('withPassword', ['with_passwords', 'with_otp']); // with_passwords
 *     nearestName('keys', ['with_keys']); // with_keys
 */
export function nearestName(name: string, knownNames: readonly string[]): string | undefined {
  if (name.length > MAX_NAME_CHARACTERS) return undefined;
  const folded = foldName(name);
  const most = Math.min(MAX_DIFFERENCES, Math.floor(folded.length / 3));
  const distances = knownNames.map((candidate) => ({ candidate, distance: editDistance(folded, foldName(candidate)) }));
  const [closest] = distances.toSorted((a, b) => a.distance - b.distance);
  if (closest !== undefined && closest.distance <= most) return closest.candidate;
  return folded.length === 0 ? undefined : knownNames.find((candidate) => candidate.endsWith(`_${name.toLowerCase()}`));
}

function foldName(name: string): string {
  return name.toLowerCase().replace(/[_\-.\s]/g, '');
}

/** Counts inserted, deleted and replaced characters, and swaps of two adjacent characters. */
function editDistance(from: string, to: string): number {
  let before: number[] = [];
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let i = 1; i <= from.length; i++) {
    const next = [i];
    for (let j = 1; j <= to.length; j++) {
      const replaced = (row[j - 1] ?? 0) + (from[i - 1] === to[j - 1] ? 0 : 1);
      const swaps = i > 1 && j > 1 && from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1];
      const swapped = swaps ? (before[j - 2] ?? 0) + 1 : Number.POSITIVE_INFINITY;
      next.push(Math.min((row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, replaced, swapped));
    }
    [before, row] = [row, next];
  }
  return row[to.length] ?? 0;
}
