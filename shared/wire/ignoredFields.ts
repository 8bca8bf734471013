import { shortenedText } from '../errors/identityError.ts';
import type { IgnoredField } from '../exportFile/manifest.ts';
import { isJsonObject } from '../json/jsonObject.ts';
import { snakeCase } from '../json/spelling.ts';
import { MAX_NAME_CHARACTERS, nearestName } from '../nearestName.ts';

/** The maximum number of unknown fields that a warning lists, because a request may have any number of them. */
const MAX_LISTED_FIELDS = 20;

/** Collects the first unknown fields of a request, in their order and without duplicates. */
export class IgnoredFields {
  private readonly knownNames: readonly string[];
  private readonly ignored = new Map<string, IgnoredField>();

  /** @param knownFields maps both spellings of each known field to the name that a warning may suggest */
  constructor(knownFields: ReadonlyMap<string, string>) {
    this.knownNames = [...new Set([...knownFields.values()].map(snakeCase))];
  }

  get list(): readonly IgnoredField[] {
    return [...this.ignored.values()];
  }

  add(name: string): void {
    if (this.ignored.size >= MAX_LISTED_FIELDS) return;
    const field = shortenedText(name, MAX_NAME_CHARACTERS);
    if (this.ignored.has(field)) return;
    const nearest = nearestName(name, this.knownNames);
    this.ignored.set(field, nearest === undefined ? { field } : { field, nearest });
  }
}

/**
 * Lists the unknown fields of a request. A field with the value `null` counts as absent.
 * @param knownFields maps both spellings of each known field to the name that a warning may suggest
 */
export function ignoredFields(body: unknown, knownFields: ReadonlyMap<string, string>): readonly IgnoredField[] {
  const ignored = new IgnoredFields(knownFields);
  if (isJsonObject(body))
    for (const [name, value] of Object.entries(body)) if (value !== null && !knownFields.has(name)) ignored.add(name);
  return ignored.list;
}
