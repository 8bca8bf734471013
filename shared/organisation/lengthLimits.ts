// Limits the length of the texts and lists for which ZITADEL has no limit.

import { type DescField, type DescMessage, getOption, hasOption, ScalarType } from '@bufbuild/protobuf';
import { rules } from '@zitadel/proto/validate/validate_pb.js';
import { isJsonObject, type JsonObject, valueAt } from '../json/jsonObject.ts';
import { fixedLimits } from '../limits.ts';
import type { OrganisationRecord } from './record.ts';
import { recordSchema } from './recordSchema.ts';
import type { RecordIssue } from './relations.ts';
import { keepsMaximum } from './storedRules.ts';

export const TOO_LONG_ID = 'IMPORT-tooLong';

/** The fields that ZITADEL indexes: ids, names and keys. Their limit is lower than the limit of other texts. */
const indexedFields: ReadonlySet<string> = new Set([
  ...'actionId actionIds appId grantId id idpId keyId orgId projectId resourceOwner userId'.split(' '),
  ...'clientId domainName flowType idpName providedUserId providedUserName roleKeys roles triggerType'.split(' '),
  ...'configId externalUserId grantedOrgId key language name projectGrantId roleKey userName'.split(' '),
]);

/**
 * Returns the limit in bytes for a field that ZITADEL does not limit. For texts that ZITADEL does not index, the limit
 * is at least the maximum length that ZITADEL accepts in requests.
 */
export function byteLimit(field: DescField): number {
  if (indexedFields.has(field.jsonName)) return fixedLimits.indexedBytes;
  return Math.max(fixedLimits.textBytes, BYTES_PER_RUNE * maximumInRequests(field));
}

const BYTES_PER_RUNE = 4;

function maximumInRequests(field: DescField): number {
  if (!hasOption(field, rules)) return 0;
  const { case: kind, value } = getOption(field, rules).type;
  if (kind === 'string') return Number(value.maxLen) || Number(value.maxBytes);
  return kind === 'bytes' ? Number(value.maxLen) : 0;
}

/** A field whose length must be checked: a list, a text with a limit, or a message that contains such fields. */
interface LimitedField {
  readonly name: string;
  /** The limit in bytes; undefined if the field itself is not a text with a limit. */
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
      limit: needsLimit(field) ? byteLimit(field) : undefined,
      isList: field.fieldKind === 'list',
      inner: field.message === undefined ? [] : limitedFields(field.message),
    }))
    .filter(({ limit, isList, inner }) => limit !== undefined || isList || inner.length > 0);
  fieldsBySchema.set(schema, fields);
  return fields;
}

/**
 * True if this module must limit a field of text or bytes. This includes a field that has a limit in ZITADEL's
 * definition but may be longer in ZITADEL's stored records, because `checkRules` does not enforce the limit in that
 * case.
 */
export function needsLimit(field: DescField): boolean {
  return (field.scalar === ScalarType.STRING || field.scalar === ScalarType.BYTES) && !keepsMaximum(field);
}

export function lengthIssue(record: OrganisationRecord): RecordIssue | undefined {
  const { section, json, body, credentials, givenPassword } = record;
  for (const { path, field, clear = '' } of section.credentials ?? []) {
    const issue =
      textIssue(credentials[field], fixedLimits.textBytes, path) ??
      textIssue(givenPassword, fixedLimits.textBytes, clear);
    if (issue !== undefined) return issue;
  }
  for (const field of section.additional?.kept ?? []) {
    const limit = field.type === 'text' ? field.maxBytes : undefined;
    const issue = textIssue(valueAt(json, field.path), limit, field.path);
    if (issue !== undefined) return issue;
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
        reason: 'value_too_long',
        params: { field: `${prefix}${name}`, limit: `${fixedLimits.listElements} elements` },
      };
    for (const [index, element] of (Array.isArray(value) ? value : [value]).entries()) {
      const path = `${prefix}${name}${Array.isArray(value) ? `[${index}]` : ''}`;
      const issue = isJsonObject(element) ? issueIn(inner, element, `${path}.`) : textIssue(element, limit, path);
      if (issue !== undefined) return issue;
    }
  }
  return undefined;
}

function textIssue(value: unknown, limit: number | undefined, path: string): RecordIssue | undefined {
  if (typeof value !== 'string' || limit === undefined) return undefined;
  if (!mayExceed(value, limit) || Buffer.byteLength(value) <= limit) return undefined;
  const key = `${path}: value length must be at most ${limit} bytes`;
  return { id: TOO_LONG_ID, key, reason: 'value_too_long', params: { field: path, limit: `${limit} bytes` } };
}

/**
 * True if a text may exceed a limit in bytes, judging by its length: a UTF-16 code unit needs at most three bytes in
 * UTF-8.
 */
function mayExceed(text: string, limit: number): boolean {
  return 3 * text.length > limit;
}
