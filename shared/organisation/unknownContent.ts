import type { DescEnum, DescField, DescMessage } from '@bufbuild/protobuf';
import { isJsonObject } from '../json/jsonObject.ts';

/** An enumeration's value that its definition does not have. */
interface UnknownValue {
  /** The field's path in JSON names, such as `user.profile.gender`. */
  readonly path: string;
  readonly value: string | number;
}

/** The content of a message's JSON that its definition does not have. */
export interface UnknownContent {
  /** The paths of unknown fields, such as `user.favouriteColour`, without the positions in lists. */
  readonly fields: readonly string[];
  readonly values: readonly UnknownValue[];
}

interface KnownField {
  readonly jsonName: string;
  /** Finds the unknown content of the field's value or list element. */
  readonly visit: ((value: unknown, path: string, found: Found) => void) | undefined;
}

interface Found {
  readonly fields: string[];
  readonly values: UnknownValue[];
}

/** No unknown content. */
export const NOTHING_UNKNOWN: UnknownContent = { fields: [], values: [] };
const compiled = new Map<string, ReadonlyMap<string, KnownField>>();

/**
 * Finds the fields and enumeration values of a message's JSON that the wire's JSON mapping ignores (zitadel 1.1).
 * @param exempt the paths of further fields that are not unknown
 */
export function findUnknown(schema: DescMessage, json: unknown, exempt: readonly string[] = []): UnknownContent {
  const found: Found = { fields: [], values: [] };
  visitMessage(schema, json, '', found);
  if (found.fields.length === 0 && found.values.length === 0) return NOTHING_UNKNOWN;
  return { fields: found.fields.filter((path) => !exempt.includes(path)), values: found.values };
}

/** Whether an enumeration has a value, by its name or its number. */
function isKnownValue({ values, value }: DescEnum, name: string | number): boolean {
  return typeof name === 'number' ? value[name] !== undefined : values.some((known) => known.name === name);
}

function visitMessage(schema: DescMessage, json: unknown, path: string, found: Found): void {
  if (!isJsonObject(json)) return;
  const known = knownFields(schema);
  for (const name of Object.keys(json)) {
    const value = json[name];
    if (value === null) continue;
    const field = known.get(name);
    if (field === undefined) found.fields.push(`${path}${name}`);
    else if (field.visit !== undefined) visitEach(value, field, `${path}${field.jsonName}`, found);
  }
}

function visitEach(value: unknown, { visit }: KnownField, path: string, found: Found): void {
  if (Array.isArray(value)) for (const element of value) visit?.(element, path, found);
  else visit?.(value, path, found);
}

/** Returns a message's fields by both of their spellings. */
function knownFields(schema: DescMessage): ReadonlyMap<string, KnownField> {
  const cached = compiled.get(schema.typeName);
  if (cached !== undefined) return cached;
  const fields = schema.fields.flatMap((field): [string, KnownField][] => {
    const known = { jsonName: field.jsonName, visit: visitor(field) };
    return [
      [field.name, known],
      [field.jsonName, known],
    ];
  });
  const byName = new Map(fields);
  compiled.set(schema.typeName, byName);
  return byName;
}

/** Returns the visitor of a field's values; Google's own messages have a JSON form other than their fields. */
function visitor({ message, enum: values }: DescField): KnownField['visit'] {
  if (message !== undefined && !message.typeName.startsWith('google.protobuf.'))
    return (value, path, found) => visitMessage(message, value, `${path}.`, found);
  if (values === undefined) return undefined;
  return (value, path, found) => {
    if (typeof value !== 'string' && typeof value !== 'number') return;
    if (!isKnownValue(values, value)) found.values.push({ path, value });
  };
}
