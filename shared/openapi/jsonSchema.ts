import { z } from 'zod';
import { MESSAGE, snakeCase } from '../wire/requestMessage.ts';

/** A JSON Schema of draft 2020-12, which is what OpenAPI 3.1 holds. */
export type JsonSchema = z.core.JSONSchema.JSONSchema;

type Part = boolean | JsonSchema;

/** What an answer of this contract looks like. Contracts with an `id` stand in `$defs`. */
export function responseSchema(contract: z.ZodType): JsonSchema {
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

type Field = boolean | JsonSchema;

/**
 * Describes a request message as it is sent: its fields by the names of the interface, each of them also `null`, which is as
 * if it were not there.
 * @param more what the contract does not say: further fields, and which of them belong together
 */
export function describeRequest(message: z.ZodType, more: JsonSchema): JsonSchema {
  const { properties, ...rest } = mapSchemas(requestSchema(message), asSent);
  return { ...rest, ...more, properties: { ...properties, ...more.properties } };
}

function asSent({ [MESSAGE]: isMessage, ...schema }: JsonSchema): JsonSchema {
  const { properties = {}, required = [], ...rest } = schema;
  if (isMessage !== true) return schema;
  const fields = Object.entries(properties)
    .filter(([, field]) => typeof field === 'object' && field.not === undefined)
    .map(([name, field]) => [snakeCase(name), required.includes(name) ? withoutDefault(field) : orNull(field)]);
  const names = required.map(snakeCase);
  return { ...rest, ...(names.length === 0 ? {} : { required: names }), properties: Object.fromEntries(fields) };
}

function orNull(field: Field): Field {
  if (typeof field === 'boolean') return field;
  const { type, enum: values } = field;
  if (typeof type !== 'string') return { anyOf: [field, { type: 'null' }] };
  return { ...field, type: [type, 'null'], ...(values === undefined ? {} : { enum: [...values, null] }) };
}

/** What a contract puts in the place of a required field, its own checks refuse with a text of their own. */
function withoutDefault(field: Field): Field {
  if (typeof field === 'boolean') return field;
  const { default: _replaced, ...rest } = field;
  return rest;
}
