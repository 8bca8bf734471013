import { z } from 'zod';
import { MESSAGE, snakeCase } from '../wire/requestMessage.ts';

/** A JSON Schema of draft 2020-12, as in OpenAPI 3.1. */
export type JsonSchema = z.core.JSONSchema.JSONSchema;

type Subschema = boolean | JsonSchema;

/** Returns the schema of a contract's responses. Contracts with an `id` go to `$defs`. */
export function responseSchema(contract: z.ZodType): JsonSchema {
  return normalise(z.toJSONSchema(contract, { io: 'output' }));
}

/** Returns the schema of a contract's requests, where fields with defaults are optional. Contracts with an `id` go to `$defs`. */
export function requestSchema(contract: z.ZodType): JsonSchema {
  return normalise(z.toJSONSchema(contract, { io: 'input' }));
}

/** Applies a change to a schema and all its subschemas, the innermost first. */
export function mapSchemas(schema: JsonSchema, change: (schema: JsonSchema) => JsonSchema): JsonSchema {
  const mapOne = (part: Subschema): Subschema => (typeof part === 'boolean' ? part : mapSchemas(part, change));
  const { $defs, properties, items, additionalProperties, anyOf, oneOf } = schema;
  return change({
    ...schema,
    ...($defs === undefined ? {} : { $defs: mapValues($defs, (part) => mapSchemas(part, change)) }),
    ...(properties === undefined ? {} : { properties: mapValues(properties, mapOne) }),
    ...(items === undefined || Array.isArray(items) ? {} : { items: mapOne(items) }),
    ...(additionalProperties === undefined ? {} : { additionalProperties: mapOne(additionalProperties) }),
    ...(anyOf === undefined ? {} : { anyOf: anyOf.map((part) => mapSchemas(part, change)) }),
    ...(oneOf === undefined ? {} : { oneOf: oneOf.map((part) => mapSchemas(part, change)) }),
  });
}

function mapValues<From, To>(record: Record<string, From>, change: (value: From) => To): Record<string, To> {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, change(value)]));
}

// zod emits `readOnly` for TypeScript's readonly types; in OpenAPI it would mean that requests omit the field.
function normalise({ $schema: _dialect, ...schema }: JsonSchema): JsonSchema {
  return mapSchemas(schema, ({ readOnly: _readOnly, ...rest }) => rest);
}

/**
 * Describes a request message as clients send it: fields have the interface's names, and optional ones may be `null`,
 * which counts as absent.
 * @param more schema parts that the contract cannot express: further fields, and dependencies between fields
 */
export function describeRequest(message: z.ZodType, more: JsonSchema): JsonSchema {
  const { properties, ...rest } = mapSchemas(requestSchema(message), toWireNames);
  return { ...rest, ...more, properties: { ...properties, ...more.properties } };
}

function toWireNames({ [MESSAGE]: isMessage, ...schema }: JsonSchema): JsonSchema {
  const { properties = {}, required = [], ...rest } = schema;
  if (isMessage !== true) return schema;
  const fields = Object.entries(properties)
    .filter(([, field]) => typeof field === 'object' && field.not === undefined)
    .map(([name, field]) => [snakeCase(name), required.includes(name) ? withoutDefault(field) : orNull(field)]);
  const names = required.map(snakeCase);
  return { ...rest, ...(names.length === 0 ? {} : { required: names }), properties: Object.fromEntries(fields) };
}

function orNull(field: Subschema): Subschema {
  if (typeof field === 'boolean') return field;
  const { type, enum: values } = field;
  if (typeof type !== 'string') return { anyOf: [field, { type: 'null' }] };
  return { ...field, type: [type, 'null'], ...(values === undefined ? {} : { enum: [...values, null] }) };
}

/** Removes the default of a required field: the contract's checks reject it, with an error text of their own. */
function withoutDefault(field: Subschema): Subschema {
  if (typeof field === 'boolean') return field;
  const { default: _replaced, ...rest } = field;
  return rest;
}
