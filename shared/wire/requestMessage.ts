import { z } from 'zod';
import { durationPattern } from '../duration.ts';
import { bodyNoObject, type FieldViolation, invalidRequest } from '../errors/errors.ts';
import { isJsonObject } from '../json/jsonObject.ts';
import { formatPath } from '../json/jsonScanner.ts';
import { checkObjectName } from '../objectStorage/objectName.ts';
import type { ObjectLocation } from '../objectStorage/objectStorage.ts';
import { readServiceAccount } from '../objectStorage/serviceAccount.ts';

/** Says of a message that it is one, where its contract becomes a description. */
export const MESSAGE = 'x-message';

/** A field of ZITADEL's that no request may have here; descriptions leave it out. */
export const refusedField = z.unknown().optional().meta({ not: {} });

/**
 * A request message of the wire's JSON mapping (zitadel 1.1): each field of `shape` is taken by its JSON name and by
 * its snake_case name, both at once are refused, `null` is as if it were not there, unknown fields are dropped.
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

/** The names of a message's fields by both of their spellings. */
export function spellings(shape: z.ZodRawShape): ReadonlyMap<string, string> {
  return new Map(Object.keys(shape).flatMap((name) => [name, snakeCase(name)].map((alias) => [alias, name])));
}

/**
 * Checks a request by its message.
 * @throws IdentityError INVALID_ARGUMENT naming every fault with its path, in the snake_case of the interface
 */
export function readRequest<Schema extends z.ZodType>(schema: Schema, value: unknown): z.output<Schema> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const { issues } = result.error;
  if (issues.some(({ code, path }) => code === 'invalid_type' && path.length === 0)) throw bodyNoObject();
  throw invalidRequest(issues.map(toViolation));
}

/** A field's name in the interface: `dataOrgsv1Gcs` is `data_orgsv1_gcs`. */
export function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

function toViolation(issue: z.core.$ZodIssue): FieldViolation {
  const path = issue.path.map((part) => (typeof part === 'number' ? part : snakeCase(String(part))));
  return { field: formatPath(path), description: issue.message };
}

/** The `timeout` of a request: its limit is the deployment's, so it is looked at by `parseDuration`. */
export const timeout = z.string().meta({
  pattern: durationPattern.source,
  format: 'go-duration',
  description:
    'The longest that the call may take, as a positive duration of Go, such as "30s" or "1h5m". By default, and at most, MAX_TIMEOUT of the deployment.',
});

/** The object `data_orgsv1_gcs` of the interface (specification 2.6). */
export const bucketRequest = requestMessage({
  path: z.string().default('').meta({ format: 'gcs-object', description: 'The name of the object, 1 to 1024 bytes.' }),
  bucket: z.string().default('').meta({ format: 'gcs-bucket', description: 'The name of the bucket.' }),
  serviceaccountJson: z.string().default('').meta({
    format: 'service-account',
    contentEncoding: 'base64',
    description: "A service account's credentials file, in base64. It is used for this call, and not kept.",
  }),
}).meta({ required: ['path', 'bucket', 'serviceaccountJson'] });

/**
 * Where an object is and with which account to reach it.
 * @param field the request's field that holds `request`, for errors
 * @throws IdentityError INVALID_ARGUMENT naming what is wrong
 */
export function objectLocation(request: z.output<typeof bucketRequest>, field: string): ObjectLocation {
  const { bucket, path, serviceaccountJson } = request;
  checkObjectName({ bucket, path }, field);
  return { bucket, path, account: readServiceAccount(serviceaccountJson, `${field}.serviceaccount_json`) };
}
