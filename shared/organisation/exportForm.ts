import { isDeepStrictEqual } from 'node:util';
import { isJsonObject, type JsonObject, parseObject, putAt, valueAt } from '../json/jsonObject.ts';
import { reorder } from './recordBody.ts';
import type { FieldPath } from './relations.ts';
import type { Section } from './section.ts';

/**
 * Puts defaults where a record has no value.
 * @returns whether a value was missing
 */
export function fillDefaults(json: JsonObject, defaults: Readonly<Record<FieldPath, unknown>>): boolean {
  const missing = Object.entries(defaults).filter(([path]) => valueAt(json, path) === undefined);
  for (const [path, value] of missing) putAt(json, path, value);
  return missing.length > 0;
}

/** Puts the fields that an export has filled in at their places, without which the digest would be another. */
export function restoreFieldOrder({ exported }: Section, json: JsonObject): void {
  if (exported?.order === undefined) return;
  const { inner, fields } = exported.order;
  const object = inner === undefined ? json : json[inner];
  if (isJsonObject(object)) reorder(object, Object.fromEntries(fields.map((name) => [name, object[name]])));
}

/** Whether an export fills in fields of the section's records. */
export function hasFilledFields({ exported }: Section): boolean {
  return exported?.fill !== undefined;
}

/**
 * Whether two records of a section differ at most in fields that an export fills in.
 * @param body the first record's canonical JSON
 * @param other the second record's
 */
export function isEqualWhenFilled({ exported = {} }: Section, body: string, other: string): boolean {
  const comparable = (text: string) => {
    const json = parseObject(text);
    exported.fill?.(json, '', () => undefined);
    return exported.withoutFilled?.(json) ?? json;
  };
  return isDeepStrictEqual(comparable(body), comparable(other));
}
