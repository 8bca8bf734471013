// An import request whose body is the export file alone, with its options in the query.

import { z } from 'zod';
import { type FieldViolation, invalidRequest } from '../../../shared/errors/errors.ts';
import { shortenedText } from '../../../shared/errors/identityError.ts';
import { inlineFields } from '../../../shared/exportFile/fileForm.ts';
import { isPercentEncodedUtf8 } from '../../../shared/http/nodeResponse.ts';
import { snakeCase } from '../../../shared/json/spelling.ts';
import { MAX_NAME_CHARACTERS, nearestName } from '../../../shared/nearestName.ts';
import { MAX_ISSUES } from '../../../shared/organisation/rules.ts';
import { readRequest, spellings } from '../../../shared/wire/requestMessage.ts';
import { EXPORT_FILE, type ImportRequest, importFields, importOptions, importRequest } from '../contract.ts';

function isFileRequest({ headers }: Request): boolean {
  const [type = ''] = (headers.get('content-type') ?? '').split(';');
  return type.trim().toLowerCase() === EXPORT_FILE;
}

const optionsByParameter = spellings(importOptions);
const parameterNames = [...new Set([...optionsByParameter.values()].map(snakeCase))];

const parameterKinds = new Map(Object.entries(importOptions).map(([name, schema]) => [name, kindOf(schema)]));

function kindOf(schema: z.ZodType) {
  const inner = schema instanceof z.ZodDefault || schema instanceof z.ZodOptional ? schema.unwrap() : schema;
  if (inner instanceof z.ZodArray) return 'list';
  if (inner instanceof z.ZodNumber) return 'number';
  return inner instanceof z.ZodBoolean ? 'flag' : 'text';
}

/**
 * Reads the options in the query of a request whose body is the export file.
 * @returns undefined for a request whose body is JSON. The query of such a request must not contain options: they would
 * have no effect, so a call with `?dry_run=true` would write.
 * @throws IdentityError INVALID_ARGUMENT for a wrong query
 */
export function readQuery(request: Request): ImportRequest | undefined {
  if (isFileRequest(request)) return readFileOptions(request);
  const names = [...new Set(new URL(request.url).searchParams.keys())].filter((name) => importFields.has(name));
  const description = `has no effect in the query of a request whose body is JSON: move it into the body, or send the file alone as the body, with Content-Type: ${EXPORT_FILE}`;
  if (names.length > 0) throw invalidRequest(names.map((field) => ({ field, description })));
  return undefined;
}

// Errors contain the names of parameters but not their values, which may be secrets.
function readFileOptions({ url }: Pick<Request, 'url'>): ImportRequest {
  const { search, searchParams } = new URL(url);
  // If a query is not valid UTF-8, decoding would change the values that the client sent.
  if (!isPercentEncodedUtf8(search))
    throw invalidRequest([{ field: '', description: 'the query is not percent-encoded UTF-8' }]);
  const fields: Record<string, unknown> = {};
  const violations: FieldViolation[] = [];
  for (const name of new Set(searchParams.keys())) {
    const issue = addParameter(name, searchParams.getAll(name), fields);
    if (issue !== undefined) violations.push({ field: shortenedText(name, MAX_NAME_CHARACTERS), description: issue });
    if (violations.length === MAX_ISSUES) break;
  }
  if (violations.length > 0) throw invalidRequest(violations);
  return readRequest(importRequest, fields);
}

function addParameter(name: string, values: readonly string[], fields: Record<string, unknown>): string | undefined {
  const kind = parameterKinds.get(optionsByParameter.get(name) ?? '');
  if (kind === undefined) return unknownParameter(name);
  const [value] = values;
  if (kind === 'list') fields[name] = values;
  else if (values.length > 1) return `repeated ${values.length} times: specify it once`;
  else if (kind === 'text') fields[name] = value;
  else if (kind === 'number') {
    if (!/^\d{1,15}$/.test(value ?? '')) return 'must be a number';
    fields[name] = Number(value);
  } else if (value === 'true' || value === 'false') fields[name] = value === 'true';
  else return 'must be true or false';
  return undefined;
}

function unknownParameter(name: string): string {
  if (importFields.has(name) || inlineFields.has(name))
    return `not allowed in a query, because logs contain queries: send the field in a JSON body, with Content-Type: application/json`;
  const nearest = nearestName(name, parameterNames);
  return `unknown parameter${nearest === undefined ? `: known are ${parameterNames.join(', ')}` : `, the nearest known one is ${nearest}`}`;
}
