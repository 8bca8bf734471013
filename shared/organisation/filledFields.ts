import { isDeepStrictEqual } from 'node:util';
import { isJsonObject, type JsonObject, parseObject, putAt, valueAt } from '../json/jsonObject.ts';
import type { Section } from './section.ts';

/*
 * ZITADEL's exports hold values that its imports do not need: defaults, and descriptions of identity providers. Records
 * are stored as files have them, exports fill these fields in, and comparisons disregard them. So a file and its export
 * are equal, and digests do not depend on what this version fills in.
 */

/**
 * Puts a section's defaults where a record has no value.
 * @returns whether a value was missing
 */
export function fillDefaults({ defaults = {} }: Section, json: JsonObject): boolean {
  const missing = Object.entries(defaults).filter(([path]) => valueAt(json, path) === undefined);
  for (const [path, value] of missing) putAt(json, path, value);
  return missing.length > 0;
}

/** Whether an export fills fields of the section's records. */
export function hasFilledFields({ defaults, fromProvider, usesProviders }: Section): boolean {
  return defaults !== undefined || fromProvider !== undefined || usesProviders !== undefined;
}

/**
 * Whether two records of a section differ at most in fields that an export fills in.
 * @param body the first record's canonical JSON
 * @param other the second record's
 */
export function isEqualWhenFilled(section: Section, body: string, other: string): boolean {
  return isDeepStrictEqual(filled(section, body), filled(section, other));
}

function filled(section: Section, body: string): unknown {
  const json = parseObject(body);
  fillDefaults(section, json);
  const { list = '', ownerType = '' } = section.usesProviders ?? {};
  const elements: readonly unknown[] = Array.isArray(json[list]) ? json[list] : [];
  for (const element of elements) if (isJsonObject(element)) delete element[ownerType];
  const { name, type } = section.fromProvider ?? {};
  return Object.fromEntries(Object.entries(json).filter(([field]) => field !== name && field !== type));
}
