import { z } from 'zod';

/** A JSON Schema of draft 2020-12, which is what OpenAPI 3.1 holds. */
export type JsonSchema = z.core.JSONSchema.JSONSchema;

type Part = boolean | JsonSchema;

/** What an answer of this contract looks like. Contracts with an `id` stand in `$defs`. */
export function answerSchema(contract: z.ZodType): JsonSchema {
  return published(z.toJSONSchema(contract, { io: 'output' }));
}

/** What a request of this contract may hold, defaults left out. Contracts with an `id` stand in `$defs`. */
export function requestSchema(contract: z.ZodType): JsonSchema {
  return published(z.toJSONSchema(contract, { io: 'input' }));
}

/** Changes a schema and every schema inside it, the inner ones first. */
export function mapSchemas(schema: JsonSchema, change: (one: JsonSchema) => JsonSchema): JsonSchema {
  const one = (part: Part): Part => (typeof part === 'boolean' ? part : mapSchemas(part, change));
  const { $defs, properties, items, additionalProperties, anyOf, oneOf } = schema;
  return change({
    ...schema,
    ...($defs === undefined ? {} : { $defs: mapValues($defs, (part) => mapSchemas(part, change)) }),
    ...(properties === undefined ? {} : { properties: mapValues(properties, one) }),
    ...(items === undefined || Array.isArray(items) ? {} : { items: one(items) }),
    ...(additionalProperties === undefined ? {} : { additionalProperties: one(additionalProperties) }),
    ...(anyOf === undefined ? {} : { anyOf: anyOf.map((part) => mapSchemas(part, change)) }),
    ...(oneOf === undefined ? {} : { oneOf: oneOf.map((part) => mapSchemas(part, change)) }),
  });
}

function mapValues<From, To>(record: Record<string, From>, change: (value: From) => To): Record<string, To> {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, change(value)]));
}

// zod writes `readOnly` where the type says that our code changes nothing; in OpenAPI it would say that a request leaves the field out.
function published({ $schema: _dialect, ...schema }: JsonSchema): JsonSchema {
  return mapSchemas(schema, ({ readOnly: _readOnly, ...rest }) => rest);
}
