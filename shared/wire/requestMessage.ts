import { z } from 'zod';
import { bodyNoObject, type FieldViolation, invalidRequest } from '../errors/errors.ts';
import { isJsonObject } from '../json/jsonObject.ts';
import { formatPath } from '../json/jsonScanner.ts';

/** Says of a message that it is one, where its contract becomes a description. */
export const MESSAGE = 'x-message';

/** A field of ZITADEL's that no request may have here; descriptions leave it out. */
export const refusedField = z.unknown().optional().meta({ not: {} });

/**
 * A request message of the wire's JSON mapping (contract 1.1): each field of `shape` is taken by its JSON name and by its
 * snake_case name, both at once are refused, `null` is as if it were not there, unknown fields are dropped.
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
  throw invalidRequest(issues.map(violationOf));
}

/** A field's name in the interface: `dataOrgsv1Gcs` is `data_orgsv1_gcs`. */
export function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

function violationOf(issue: z.core.$ZodIssue): FieldViolation {
  const path = issue.path.map((part) => (typeof part === 'number' ? part : snakeCase(String(part))));
  return { field: formatPath(path), description: issue.message };
}
