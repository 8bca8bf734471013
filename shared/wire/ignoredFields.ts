// Unknown fields of a request, and the known fields nearest to them.

import { shortenedText } from '../errors/identityError.ts';
import type { IgnoredField } from '../exportFile/manifest.ts';
import { isJsonObject } from '../json/jsonObject.ts';
import { snakeCase } from '../json/spelling.ts';

/** The maximum number of listed fields: a request may have any number of unknown fields. */
const MAX_LISTED_FIELDS = 20;
export const MAX_NAME_CHARACTERS = 64;
/** The maximum number of differences between similar names; it is also at most a third of the name's length. */
const MAX_DIFFERENCES = 3;

/** The unknown fields of a request, in the request's order, without duplicates. */
export class IgnoredFields {
  private readonly known: readonly string[];
  private readonly found = new Map<string, IgnoredField>();

  /** @param known all spellings of the known fields */
  constructor(known: ReadonlyMap<string, string>) {
    this.known = [...new Set([...known.values()].map(snakeCase))];
  }

  /** The first unknown fields, at most 20. */
  get list(): readonly IgnoredField[] {
    return [...this.found.values()];
  }

  /** Adds a field, unless the list contains it or is full. */
  add(name: string): void {
    if (this.found.size >= MAX_LISTED_FIELDS) return;
    const field = shortenedText(name, MAX_NAME_CHARACTERS);
    if (this.found.has(field)) return;
    const nearest = nearestName(name, this.known);
    this.found.set(field, nearest === undefined ? { field } : { field, nearest });
  }
}

/**
 * Lists the unknown fields of a request. `null` counts as absent.
 * @param known all spellings of the known fields
 */
export function ignoredFields(body: unknown, known: ReadonlyMap<string, string>): readonly IgnoredField[] {
  const ignored = new IgnoredFields(known);
  if (isJsonObject(body))
    for (const [name, value] of Object.entries(body)) if (value !== null && !known.has(name)) ignored.add(name);
  return ignored.list;
}

/**
 * Returns the known name that is similar to an unknown one, without regard to case and separators, or that ends with it.
 * @example
 *     nearestName('withPassword', ['with_passwords', 'with_otp']); // with_passwords
 *     nearestName('keys', ['with_keys']); // with_keys
 */
export function nearestName(name: string, known: readonly string[]): string | undefined {
  if (name.length > MAX_NAME_CHARACTERS) return undefined;
  const folded = foldName(name);
  const most = Math.min(MAX_DIFFERENCES, Math.floor(folded.length / 3));
  const distances = known.map((one) => ({ one, distance: editDistance(folded, foldName(one)) }));
  const [closest] = distances.toSorted((a, b) => a.distance - b.distance);
  if (closest !== undefined && closest.distance <= most) return closest.one;
  return folded.length === 0 ? undefined : known.find((one) => one.endsWith(`_${name.toLowerCase()}`));
}

function foldName(name: string): string {
  return name.toLowerCase().replace(/[_\-.\s]/g, '');
}

/** Counts the characters to insert, delete, replace or swap with the next in order to turn one text into the other. */
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
