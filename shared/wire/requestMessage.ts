import { z } from 'zod';
import { withoutEmpty } from '../defined.ts';
import { durationPattern } from '../duration.ts';
import { bodyNoObject, type FieldViolation, invalidRequest } from '../errors/errors.ts';
import { formatPath } from '../json/jsonError.ts';
import { isJsonObject } from '../json/jsonObject.ts';
import { schemaIssueReason } from '../json/schemaIssue.ts';
import { snakeCase } from '../json/spelling.ts';
import { checkObjectName } from '../objectStorage/objectName.ts';
import type { ObjectLocation, WrittenObject } from '../objectStorage/objectStorage.ts';
import { readServiceAccount } from '../objectStorage/serviceAccount.ts';
import { type JsonSchema, mapSchemas, requestSchema, type Subschema } from '../openapi/jsonSchema.ts';

/** The property of a JSON Schema that is true if the schema describes a request message. */
const MESSAGE = 'x-message';

/** The schema of a field that ZITADEL accepts but this service rejects. The OpenAPI document omits the field. */
export const unsupportedField = z.unknown().optional().meta({ not: {} });

/**
 * Creates the contract of a request message in ZITADEL's JSON mapping (zitadel 1.1). A request may contain a field of
 * `shape` by its JSON name or by its snake_case name, but not by both. A field with the value `null` counts as absent.
 * Unknown fields are dropped.
 */
export function requestMessage<Shape extends z.ZodRawShape>(shape: Shape) {
  const names = spellings(shape);
  return z.preprocess(
    (value, context) => {
      if (!isJsonObject(value)) return value;
      const fields: Record<string, unknown> = {};
      for (const [alias, part] of Object.entries(value)) {
        const name = names.get(alias);
        if (name === undefined || part === null) continue;
        if (name in fields)
          context.issues.push({ code: 'custom', message: `duplicate field "${alias}"`, input: value });
        fields[name] = part;
      }
      return fields;
    },
    z.object(shape).meta({ [MESSAGE]: true }),
  );
}

/** The fields of a parsed request, except `timeout`. */
export type RequestOptions<Shape extends z.ZodRawShape> = {
  readonly [Name in keyof Fields<Shape> as Exclude<Name, 'timeout'>]: ReadonlyList<Fields<Shape>[Name]>;
};

type Fields<Shape extends z.ZodRawShape> = z.output<z.ZodObject<Shape>>;

type ReadonlyList<Value> = Value extends (infer Item)[] ? readonly Item[] : Value;

/** Maps both names of each field, the JSON name and the snake_case name, to the JSON name. */
export function spellings(shape: z.ZodRawShape): ReadonlyMap<string, string> {
  return new Map(Object.keys(shape).flatMap((name) => [name, snakeCase(name)].map((alias) => [alias, name])));
}

/**
 * Validates a request.
 * @throws IdentityError INVALID_ARGUMENT if the request is invalid. The error lists each issue with the path of its
 *   field in snake_case.
 */
export function readRequest<Schema extends z.ZodType>(schema: Schema, value: unknown): z.output<Schema> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const { issues } = result.error;
  if (issues.some(({ code, path }) => code === 'invalid_type' && path.length === 0)) throw bodyNoObject();
  throw invalidRequest(issues.map(issueViolation));
}

/** Returns the snake_case names of the boolean fields that are true. */
export function setFlags(fields: object): readonly string[] {
  return Object.entries(fields).flatMap(([name, value]) => (value === true ? [snakeCase(name)] : []));
}

function issueViolation(issue: z.core.$ZodIssue): FieldViolation {
  const path = issue.path.map((part) => (typeof part === 'number' ? part : snakeCase(String(part))));
  return { field: formatPath(path), description: schemaIssueReason(issue) };
}

/**
 * The schema of the timeout in a request. It accepts any text: `parseDuration` validates the timeout later, because the
 * maximum depends on the deployment.
 */
export const timeout = z.string().meta({
  pattern: durationPattern.source,
  format: 'go-duration',
  description:
    'The timeout of the call, as a positive Go duration such as "30s" or "1h5m". Default and maximum: the deployment\'s MAX_TIMEOUT.',
});

/** The contract of the object `data_orgsv1_gcs` in a request (specification 2.6). */
export const bucketRequest = requestMessage({
  path: z.string().default('').meta({ format: 'gcs-object', description: 'The name of the object, 1 to 1024 bytes.' }),
  bucket: z.string().default('').meta({ format: 'gcs-bucket', description: 'The name of the bucket.' }),
  serviceaccountJson: z.string().default('').meta({
    format: 'service-account',
    contentEncoding: 'base64',
    description:
      "A service account's credentials file, in base64. This service uses the file only for this call, and does not store it.",
  }),
}).meta({ required: ['path', 'bucket', 'serviceaccountJson'] });

/** The id of a transfer through a bucket. The path of the object in the bucket ends with this id. */
export const transferId = z.string({ error: 'is missing' }).regex(/^[\w-]{22}$/, {
  error: 'must have 22 characters: letters, digits, "-" and "_"',
});

/** The part of a response that describes an object that the operation has written to a bucket (specification 2.8). */
export const writtenObject = z
  .strictObject({
    bucket: z.string(),
    path: z.string(),
    generation: z.string().describe('The object’s generation, which identifies this content.'),
    size: z.int().nonnegative().describe('Bytes.'),
    crc32c: z.string().describe('The CRC32C of the content: four bytes, in base64.'),
  })
  .readonly() satisfies z.ZodType<WrittenObject>;

/**
 * Checks a reference to an object in a bucket, and returns the object's location.
 * @param field the name of the field in the request's body that contains `request`. The paths in errors begin with
 *   this name
 * @throws IdentityError INVALID_ARGUMENT if the object's name or the service account is invalid
 */
export function objectLocation(request: z.output<typeof bucketRequest>, field: string): ObjectLocation {
  const { bucket, path, serviceaccountJson } = request;
  checkObjectName({ bucket, path }, field);
  return { bucket, path, account: readServiceAccount(serviceaccountJson, `${field}.serviceaccount_json`) };
}

/**
 * Returns the JSON Schema of a request message as clients send it. Fields have the names of the interface, and optional
 * fields may be `null`, which means absent.
 * @param more the parts of the schema that the contract cannot express: further fields, and dependencies between
 *   fields
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
  return { ...rest, ...withoutEmpty({ required: names }), properties: Object.fromEntries(fields) };
}

function orNull(field: Subschema): Subschema {
  if (typeof field === 'boolean') return field;
  const { type, enum: values } = field;
  if (typeof type !== 'string') return { anyOf: [field, { type: 'null' }] };
  return { ...field, type: [type, 'null'], ...(values === undefined ? {} : { enum: [...values, null] }) };
}

/**
 * Removes the default from the schema of a required field. The contract has a default only for an error text: without a
 * default, an absent field would not be checked by the field's own checks.
 */
function withoutDefault(field: Subschema): Subschema {
  if (typeof field === 'boolean') return field;
  const { default: _replaced, ...rest } = field;
  return rest;
}
