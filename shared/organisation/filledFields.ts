// ZITADEL fills in some fields if an imported record lacks them, but this service stores the record without them. This
// module removes these fields before two records are compared.

import { isDeepStrictEqual } from 'node:util';
import { type JsonObject, valueAt } from '../json/jsonObject.ts';
import type { FieldPath } from './relations.ts';
import type { FilledField, OwnProviders, Section } from './sections/section.ts';

function filledValue({ value }: FilledField, json: JsonObject): unknown {
  return typeof value === 'function' ? value(json) : value;
}

export function hasFilledFields({ filled, exported }: Section): boolean {
  return filled !== undefined || exported?.withoutFilled !== undefined;
}

export function withoutFilled(
  { filled = [], exported }: Section,
  json: JsonObject,
  isOwnProvider: OwnProviders,
): JsonObject {
  const present = filled.filter((field) => isDeepStrictEqual(valueAt(json, field.path), filledValue(field, json)));
  const remaining = present.length === 0 ? json : structuredClone(json);
  for (const { path } of present) removeAt(remaining, path);
  return exported?.withoutFilled?.(remaining, isOwnProvider) ?? remaining;
}

function removeAt(json: JsonObject, path: FieldPath): void {
  const parent = path.includes('.') ? valueAt(json, path.slice(0, path.lastIndexOf('.'))) : json;
  if (typeof parent === 'object' && parent !== null)
    Reflect.deleteProperty(parent, path.slice(path.lastIndexOf('.') + 1));
}
