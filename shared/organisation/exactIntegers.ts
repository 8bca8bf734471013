import { type DescField, type DescMessage, ScalarType } from '@bufbuild/protobuf';
import { isJsonObject, type JsonObject } from '../json/jsonObject.ts';

/** Where a message has integers of 64 bits: the fields themselves, and the fields that lead to them. */
interface Place {
  readonly field: DescField;
  readonly nested: readonly Place[];
}

const compiled = new Map<string, readonly Place[]>();

/**
 * Finds integers of 64 bits that stand in JSON as numbers which JavaScript cannot represent exactly, so that parsing has
 * rounded them. As strings, which is what the JSON mapping writes, they are exact.
 * @returns the fields' paths in JSON names
 */
export function inexactIntegers(schema: DescMessage, value: unknown): string[] {
  const places = compile(schema);
  return places.length === 0 || !isJsonObject(value) ? [] : findInexact(places, value, '');
}

function findInexact(places: readonly Place[], message: JsonObject, prefix: string): string[] {
  return places.flatMap(({ field, nested }) => {
    const value = message[field.jsonName] ?? message[field.name];
    const elements: readonly unknown[] = Array.isArray(value) ? value : [value];
    return elements.flatMap((element, index) => {
      const path = `${prefix}${field.jsonName}${Array.isArray(value) ? `[${index}]` : ''}`;
      if (isJsonObject(element)) return findInexact(nested, element, `${path}.`);
      return nested.length === 0 && typeof element === 'number' && isInexact(element) ? [path] : [];
    });
  });
}

function isInexact(value: number): boolean {
  return Math.abs(value) > Number.MAX_SAFE_INTEGER;
}

function compile(schema: DescMessage): readonly Place[] {
  const cached = compiled.get(schema.typeName);
  if (cached !== undefined) return cached;
  // Set first, so that a message that contains itself ends the descent.
  compiled.set(schema.typeName, []);
  const places = schema.fields.flatMap((field): Place[] => {
    if (isLong(field)) return [{ field, nested: [] }];
    const nested = field.message === undefined || isWellKnown(field.message) ? [] : compile(field.message);
    return nested.length === 0 ? [] : [{ field, nested }];
  });
  compiled.set(schema.typeName, places);
  return places;
}

/** Whether the JSON of a message is not an object of its fields, as that of a duration. */
function isWellKnown({ typeName }: DescMessage): boolean {
  return typeName.startsWith('google.protobuf.');
}

const LONG: readonly (ScalarType | undefined)[] = [
  ScalarType.INT64,
  ScalarType.UINT64,
  ScalarType.SINT64,
  ScalarType.FIXED64,
  ScalarType.SFIXED64,
];

function isLong(field: DescField): boolean {
  return LONG.includes(field.scalar);
}
