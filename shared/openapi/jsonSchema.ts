import { z } from 'zod';
import { defined } from '../defined.ts';

/** A JSON Schema of draft 2020-12, as in OpenAPI 3.1. */
export type JsonSchema = z.core.JSONSchema.JSONSchema;

export type Subschema = boolean | JsonSchema;

/** Returns the JSON Schema of a response. Its `$defs` contain the inner contracts that have an `id`. */
export function responseSchema(contract: z.ZodType): JsonSchema {
  return normalise(z.toJSONSchema(contract, { io: 'output' }));
}

/**
 * Returns the JSON Schema of a request, in which fields with a default are optional. Its `$defs` contain the inner
 * contracts that have an `id`.
 */
export function requestSchema(contract: z.ZodType): JsonSchema {
  return normalise(z.toJSONSchema(contract, { io: 'input' }));
}

/**
 * Calls `change` with each schema inside a schema, and last with the schema itself. Returns the schema that consists of
 * the results.
 */
export function mapSchemas(schema: JsonSchema, change: (schema: JsonSchema) => JsonSchema): JsonSchema {
  const mapOne = (part: Subschema): Subschema => (typeof part === 'boolean' ? part : mapSchemas(part, change));
  const { $defs, properties, items, additionalProperties, anyOf, oneOf } = schema;
  return change({
    ...schema,
    ...(items === undefined || Array.isArray(items) ? {} : { items: mapOne(items) }),
    ...defined({
      $defs: $defs && mapValues($defs, (part) => mapSchemas(part, change)),
      properties: properties && mapValues(properties, mapOne),
      // Compare with undefined, because `additionalProperties` may be `false`.
      additionalProperties: additionalProperties === undefined ? undefined : mapOne(additionalProperties),
      anyOf: anyOf?.map((part) => mapSchemas(part, change)),
      oneOf: oneOf?.map((part) => mapSchemas(part, change)),
    }),
  });
}

function mapValues<From, To>(record: Record<string, From>, change: (value: From) => To): Record<string, To> {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, change(value)]));
}

// zod adds `readOnly` for TypeScript's readonly types. Remove it, because in OpenAPI it would mean that requests omit
// the field.
function normalise({ $schema: _dialect, ...schema }: JsonSchema): JsonSchema {
  return mapSchemas(schema, ({ readOnly: _readOnly, ...rest }) => rest);
}
