// Limits of texts and lists for which ZITADEL's definition has none.

import { type DescField, type DescMessage, getOption, hasOption, ScalarType } from '@bufbuild/protobuf';
import { rules } from '@zitadel/proto/validate/validate_pb.js';
import { isJsonObject, type JsonObject } from '../json/jsonObject.ts';
import { fixedLimits } from '../limits.ts';
import { type OrganisationRecord, recordSchema } from './record.ts';
import type { RecordIssue } from './relations.ts';

/** The id of the issue of a record that exceeds a limit for which ZITADEL has no error. */
export const TOO_LONG_ID = 'IMPORT-tooLong';

/** The fields that ZITADEL keeps in indexes: ids, names and keys. All other fields are texts of any kind. */
const indexedFields: ReadonlySet<string> = new Set([
  ...'actionId actionIds appId grantId id idpId keyId orgId projectId resourceOwner userId'.split(' '),
  ...'clientId domainName flowType idpName providedUserId providedUserName roleKeys roles triggerType'.split(' '),
]);

/** Returns the limit of a field for which ZITADEL's definition has none, in bytes. */
export function byteLimit(name: string): number {
  return indexedFields.has(name) ? fixedLimits.indexedBytes : fixedLimits.textBytes;
}

/** A limited field, or a message that has some. */
interface LimitedField {
  readonly name: string;
  /** In bytes; undefined for a message. */
  readonly limit: number | undefined;
  readonly inner: readonly LimitedField[];
}

const fieldsBySchema = new Map<DescMessage, readonly LimitedField[]>();

function limitedFields(schema: DescMessage): readonly LimitedField[] {
  const cached = fieldsBySchema.get(schema);
  if (cached !== undefined) return cached;
  const fields = schema.fields
    .map((field) => ({
      name: field.jsonName,
      limit: needsLimit(field) ? byteLimit(field.jsonName) : undefined,
      isList: field.fieldKind === 'list',
      inner: field.message === undefined ? [] : limitedFields(field.message),
    }))
    .filter(({ limit, isList, inner }) => limit !== undefined || isList || inner.length > 0);
  fieldsBySchema.set(schema, fields);
  return fields;
}

/** Whether a field is a text, or bytes, without a limit of ZITADEL's: `checkRules` enforces those. */
export function needsLimit(field: DescField): boolean {
  if (field.scalar !== ScalarType.STRING && field.scalar !== ScalarType.BYTES) return false;
  if (!hasOption(field, rules)) return true;
  const { case: kind, value } = getOption(field, rules).type;
  if (kind === 'string') return Number(value.maxLen) === 0 && Number(value.maxBytes) === 0;
  return kind !== 'bytes' || Number(value.maxLen) === 0;
}

/** Finds the first text or list of a record that is longer than its limit. */
export function lengthIssue(record: OrganisationRecord): RecordIssue | undefined {
  const { section, json, body, credentials, givenPassword } = record;
  for (const { path, field, clear = '' } of section.credentials ?? []) {
    const found =
      textIssue(credentials[field], fixedLimits.textBytes, path) ??
      textIssue(givenPassword, fixedLimits.textBytes, clear);
    if (found !== undefined) return found;
  }
  return mayExceed(body, fixedLimits.indexedBytes)
    ? issueIn(limitedFields(recordSchema(section)), json, '')
    : undefined;
}

function issueIn(fields: readonly LimitedField[], json: JsonObject, prefix: string): RecordIssue | undefined {
  for (const { name, limit, inner } of fields) {
    const value = json[name];
    if (value === undefined) continue;
    if (Array.isArray(value) && value.length > fixedLimits.listElements)
      return {
        id: TOO_LONG_ID,
        key: `${prefix}${name}: value must contain at most ${fixedLimits.listElements} item(s)`,
      };
    for (const [index, element] of (Array.isArray(value) ? value : [value]).entries()) {
      const path = `${prefix}${name}${Array.isArray(value) ? `[${index}]` : ''}`;
      const found = isJsonObject(element) ? issueIn(inner, element, `${path}.`) : textIssue(element, limit, path);
      if (found !== undefined) return found;
    }
  }
  return undefined;
}

function textIssue(value: unknown, limit: number | undefined, path: string): RecordIssue | undefined {
  if (typeof value !== 'string' || limit === undefined) return undefined;
  if (!mayExceed(value, limit) || Buffer.byteLength(value) <= limit) return undefined;
  return { id: TOO_LONG_ID, key: `${path}: value length must be at most ${limit} bytes` };
}

/** Whether a text could be longer than a limit: a UTF-16 unit has up to three bytes. */
function mayExceed(text: string, limit: number): boolean {
  return 3 * text.length > limit;
}
