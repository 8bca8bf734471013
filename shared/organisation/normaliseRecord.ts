import { isJsonObject, type JsonObject, parseObject, putAt, valueAt } from '../json/jsonObject.ts';
import { exportedFormIssue } from './exportedForm.ts';
import { lengthIssue } from './lengthLimits.ts';
import { type ConvertedText, canonicalise, type DroppedText, type OrganisationRecord } from './record.ts';
import { inWrittenOrder, reorder, serialise } from './recordBody.ts';
import { recordSchema } from './recordSchema.ts';
import type { FieldPath, RecordIssue } from './relations.ts';
import type { Section, ValueRule } from './sections/section.ts';

export interface NormalisedRecord {
  readonly record: OrganisationRecord;
  readonly issue?: RecordIssue;
}

/** Returns an issue if a text contains the character NUL, because PostgreSQL cannot store such a text. */
function nulIssue(record: OrganisationRecord): RecordIssue | undefined {
  const field = fieldWithNul(record);
  const key = 'ERROR: unsupported Unicode escape sequence (SQLSTATE 22P05)';
  return field === undefined ? undefined : { id: '', key, reason: 'character_invalid', params: { field } };
}

/**
 * Converts a record's values by the rules of its section. `readRecord` must not do this, because the digest in the
 * manifest is a digest of the original values.
 * @param unset the path of a field to unset
 * @example
 * normaliseRecord(readRecord(domainSection, { domainName: ' acme.example ' }, 'o1')).record.json;
 * // { orgId: 'o1', domainName: 'acme.example' }
 */
export function normaliseRecord(record: OrganisationRecord, unset?: FieldPath): NormalisedRecord {
  // Check the lengths first, because some of the following checks take more than linear time.
  const unfit = lengthIssue(record) ?? nulIssue(record);
  if (unfit !== undefined) return { record, issue: unfit };
  const changes: Change[] = [];
  for (const rule of rulesOf(record.section)) {
    const { issue, change } = convertAt(record.json, rule);
    if (issue !== undefined) return { record, issue };
    if (change !== undefined) changes.push(change);
  }
  const removed = unset === undefined ? nestedLists(record) : [unset, ...nestedLists(record)];
  const isAsRead = changes.length === 0 && removed.length === 0;
  const stored = isAsRead ? record : withConversions(record, changes, removed);
  const changed = isAsRead ? removed : [...changes.map(({ field }) => field), ...removed];
  // When the file was read, a nested record was checked only by the rules in the definition of the outer record. So
  // check all its fields by the rules in its own definition.
  const issue = exportedFormIssue(stored, record.parent === undefined ? changed : undefined);
  return issue === undefined ? { record: stored } : { record: stored, issue };
}

function withConversions(
  record: OrganisationRecord,
  changes: readonly Change[],
  removed: readonly FieldPath[],
): OrganisationRecord {
  const values = new Map<FieldPath, unknown>(changes.map(({ field, value }) => [field, value]));
  for (const path of removed) values.set(path, undefined);
  const dropped = changes.flatMap(({ field, isRepeated, dropped: texts }) =>
    texts.map((text): DroppedText => ({ field, text, isRepeated })),
  );
  const converted = [...(record.converted ?? []), ...changes.flatMap((change) => change.converted)];
  return {
    ...withChanges(record, values),
    ...(dropped.length === 0 ? {} : { dropped }),
    ...(converted.length === 0 ? {} : { converted }),
  };
}

/** A rule for the values of a field. If the field is a list, the rule applies to each element. */
interface FieldRule {
  readonly field: string;
  readonly isList: boolean;
  /** The path of the message that contains the field; undefined for the record itself. */
  readonly parent: string | undefined;
  readonly rule: ValueRule;
}

const rulesBySection = new WeakMap<Section, readonly FieldRule[]>();

function rulesOf(section: Section): readonly FieldRule[] {
  const cachedRules = rulesBySection.get(section);
  if (cachedRules !== undefined) return cachedRules;
  const rules = Object.entries(section.values ?? {}).map(([path, rule]): FieldRule => {
    const isList = path.endsWith('[]');
    const field = isList ? path.slice(0, -2) : path;
    const lastDot = field.lastIndexOf('.');
    return { field, isList, parent: lastDot < 0 ? undefined : field.slice(0, lastDot), rule };
  });
  rulesBySection.set(section, rules);
  return rules;
}

const NO_LISTS: readonly string[] = [];

/**
 * Returns the path of the list whose elements are stored as separate records. Returns no path if the record has no such
 * list.
 */
function nestedLists({ section: { nested }, json }: OrganisationRecord): readonly string[] {
  return nested === undefined || valueAt(json, nested.list) === undefined ? NO_LISTS : [nested.list];
}

/** @param changes the new values by path; undefined unsets a field */
export function withChanges(record: OrganisationRecord, changes: ReadonlyMap<string, unknown>): OrganisationRecord {
  const json = parseObject(record.body);
  for (const [path, value] of changes) putAt(json, path, value);
  reorder(json, inWrittenOrder(recordSchema(record.section), json));
  canonicalise(record.section, json, record.orgId);
  return { ...record, json, ...serialise(json), given: record.given ?? record.json };
}

interface Change {
  readonly field: string;
  readonly value: unknown;
  readonly dropped: readonly string[];
  readonly isRepeated: boolean;
  readonly converted: readonly ConvertedText[];
}

interface Conversion {
  readonly issue?: RecordIssue;
  readonly change?: Change;
}

const AS_IT_IS: Conversion = {};

function convertAt(json: JsonObject, { field, isList, parent, rule }: FieldRule): Conversion {
  const value = valueAt(json, field);
  if (isList) return Array.isArray(value) ? convertList(field, value, rule) : AS_IT_IS;
  if (value === undefined && parent !== undefined && !isJsonObject(valueAt(json, parent))) return AS_IT_IS;
  const result = rule(value);
  if (result.issue !== undefined) return { issue: result.issue };
  if (result.value === value) return AS_IT_IS;
  const isRepeated = result.isRepeated === true;
  return { change: { field, value: result.value, isRepeated, ...changedTexts(field, value, result) } };
}

function changedTexts(field: string, value: unknown, { value: stored, dropped, isNotation }: ReturnType<ValueRule>) {
  if (dropped !== undefined) return { dropped, converted: [] };
  if (typeof value !== 'string' || stored === value || isNotation === true) return { dropped: [], converted: [] };
  if (typeof stored !== 'string') return { dropped: [value], converted: [] };
  return { dropped: [], converted: [{ field, value, stored }] };
}

function convertList(field: string, list: readonly unknown[], rule: ValueRule): Conversion {
  const results = list.map((element) => rule(element));
  const issue = results.find((result) => result.issue !== undefined)?.issue;
  if (issue !== undefined) return { issue };
  const converted = results.map((result) => result.value).filter((element) => element !== undefined);
  const isEqual = converted.length === list.length && converted.every((element, index) => element === list[index]);
  if (isEqual) return AS_IT_IS;
  const texts = results.map((result, index) => changedTexts(`${field}[${index}]`, list[index], result));
  return {
    change: {
      field,
      value: converted.length === 0 ? undefined : converted,
      isRepeated: false,
      dropped: texts.flatMap(({ dropped }) => dropped),
      converted: texts.flatMap((changed) => changed.converted),
    },
  };
}

function fieldWithNul({ section, json, body, credentials }: OrganisationRecord): string | undefined {
  if (credentials.passwordHash?.includes('\0') === true)
    return section.credentials?.find(({ field }) => field === 'passwordHash')?.path;
  // The body may contain an escaped backslash before `u0000`, so search the parsed values for NUL.
  return body.includes('\\u0000') ? pathOfNul(json, '') : undefined;
}

function pathOfNul(value: unknown, path: string): string | undefined {
  if (typeof value === 'string') return value.includes('\0') ? path : undefined;
  if (typeof value !== 'object' || value === null) return undefined;
  for (const [name, inner] of Object.entries(value)) {
    const nulPath = pathOfNul(inner, Array.isArray(value) ? `${path}[${name}]` : joinedPath(path, name));
    if (nulPath !== undefined) return nulPath;
  }
  return undefined;
}

function joinedPath(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`;
}
