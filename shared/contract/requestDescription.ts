import type { z } from 'zod';
import { type JsonSchema, mapSchemas, requestSchema } from '../openapi/jsonSchema.ts';
import { MESSAGE, snakeCase } from './requestMessage.ts';

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
