import {
  type DescEnum,
  type DescField,
  type DescMessage,
  fromJson,
  type JsonValue,
  type Message,
  ScalarType,
  toJson,
} from '@bufbuild/protobuf';
import { isJsonObject, type JsonObject } from '../json/jsonObject.ts';
import { snakeCase, valueInEitherSpelling } from '../json/spelling.ts';
import { fixedLimits } from '../limits.ts';
import { checkRules } from './rules.ts';
import type { Section } from './sections/section.ts';
import { nothingUnknown, type UnknownContent } from './unknownContent.ts';
import { usualMessage } from './usualMessage.ts';

export interface FieldIssue {
  /** The field's path within its record, such as `user.email.email`; empty for the record itself. */
  readonly path: string;
  readonly reason: string;
  /** The text with which ZITADEL reports the issue, if ZITADEL reports it. */
  readonly message?: string;
}

/** The error about invalid fields in a record, or in another message of an export file. */
export class InvalidRecordError extends Error {
  override readonly name = 'InvalidRecordError';
  readonly issues: readonly FieldIssue[];

  constructor(issues: readonly FieldIssue[]) {
    super(issues.map(({ path, reason }) => (path === '' ? reason : `${path}: ${reason}`)).join('; '));
    this.issues = issues;
  }
}

export type CheckedSection = Pick<Section, 'credentials'>;

/**
 * A message in canonical form: the fields have JSON names and the descriptor's order, and default values are omitted.
 */
interface CanonicalMessage {
  readonly json: JsonObject;
  readonly unknown: UnknownContent;
}

/**
 * Parses a message from the JSON form of protobuf messages (zitadel 1.1).
 * @param value the parsed JSON. If it is in canonical form, the function returns this object. Otherwise, the function
 *   may change the object.
 * @param checked the section of the message. If present, the function checks the rules in the message's definition
 *   (zitadel 3), except for absent credentials of the section, because exports may omit credentials.
 * @throws InvalidRecordError if the message is invalid
 */
export function readMessage(
  schema: DescMessage,
  value: unknown,
  checked: CheckedSection | undefined,
): CanonicalMessage {
  const json = usualMessage(schema, value, checked !== undefined);
  return json === undefined ? decodeMessage(schema, value, checked) : { json, unknown: nothingUnknown };
}

/**
 * Parses a message in any form that protobuf's JSON allows, and lists its issues in the error. `usualMessage` is
 * several times as fast, but accepts only the usual form.
 * @throws InvalidRecordError if the message is invalid
 */
export function decodeMessage(
  schema: DescMessage,
  value: unknown,
  checked: CheckedSection | undefined,
): CanonicalMessage {
  const { rounded, malformed, unknown } = inspectJson(schema, value);
  const reason = 'the number is above 2^53 and would be rounded: write the number as a string';
  const unfit: FieldIssue[] = [...rounded.map((path) => ({ path, reason })), ...malformed];
  const { message, issues } = decode(schema, value, unfit);
  const broken = checked === undefined ? [] : brokenRules(schema, message, { checked, value, unknown, issues });
  if (issues.length + broken.length > 0) throw new InvalidRecordError([...issues, ...broken]);
  const json = toJson(schema, message);
  return { json: isJsonObject(json) ? json : {}, unknown };
}

interface RuleContext {
  readonly checked: CheckedSection;
  readonly value: unknown;
  readonly unknown: UnknownContent;
  /** The issues of the values that `decode` has removed from the message. */
  readonly issues: readonly FieldIssue[];
}

function brokenRules(schema: DescMessage, message: Message, { checked, value, unknown, issues }: RuleContext) {
  const unknownValues = new Set(unknown.values.map(({ path }) => path));
  const removed = new Set(issues.map(({ path }) => path));
  return checkRules(schema, message).filter(
    ({ path }) =>
      !isOmittedCredential(checked, value, path) &&
      !unknownValues.has(withoutPositions(path)) &&
      !pathsTo(path).some((outer) => removed.has(outer)),
  );
}

/** Returns the path of a value, after the paths of the messages and lists that contain the value. */
function pathsTo(path: string): readonly string[] {
  return [...path.matchAll(/[.[]/g)].map(({ index }) => path.slice(0, index)).concat(path);
}

/**
 * Decodes a message without its invalid values, so that the rules of the remaining fields can be checked.
 * @param unfit the issues that are known before decoding. Their values are removed first, because the decoder might
 *   accept them.
 * @returns the message, and the issues of all values that were removed from the message
 */
function decode(
  schema: DescMessage,
  value: unknown,
  unfit: readonly FieldIssue[],
): { readonly message: Message; readonly issues: readonly FieldIssue[] } {
  const fit = unfit.length === 0 ? value : withoutValues(value, unfit);
  try {
    return { message: fromJson(schema, asJson(fit), { ignoreUnknownFields: true }), issues: unfit };
  } catch (error) {
    const invalid = findInvalid(schema, fit);
    const issues = [...unfit, ...invalid];
    if (invalid.length === 0) throw new InvalidRecordError([...issues, { path: '', reason: decodingReason(error) }]);
    const validValue = withoutValues(fit, invalid);
    if (!decodes(schema, validValue)) throw new InvalidRecordError(issues);
    return { message: fromJson(schema, asJson(validValue), { ignoreUnknownFields: true }), issues };
  }
}

/** Removes the values with issues. If an element of a list has an issue, removes the whole list. */
function withoutValues(value: unknown, issues: readonly FieldIssue[]): unknown {
  // Remove the whole list: if only the invalid element were removed, the later elements would have other positions.
  const fields = new Set(issues.map(({ path }) => path.replace(/\[.*/s, '')));
  return [...fields].reduce((json, field) => withoutField(json, field.split('.')), value);
}

/**
 * Returns the JSON without the field. Copies only the objects on the field's path, because other values may be nested
 * too deeply to copy.
 */
function withoutField(json: unknown, [name = '', ...inner]: readonly string[]): unknown {
  if (!isJsonObject(json)) return json;
  const copy = { ...json };
  for (const spelling of new Set([name, snakeCase(name)])) {
    if (inner.length === 0) delete copy[spelling];
    else if (Object.hasOwn(copy, spelling)) copy[spelling] = withoutField(copy[spelling], inner);
  }
  return copy;
}

function decodingReason(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function decodes(schema: DescMessage, json: unknown): boolean {
  try {
    fromJson(schema, asJson(json), { ignoreUnknownFields: true });
    return true;
  } catch {
    return false;
  }
}

function findInvalid(schema: DescMessage, json: unknown, prefix = ''): FieldIssue[] {
  if (!isJsonObject(json)) return [{ path: prefix.slice(0, -1), reason: 'expected an object' }];
  return schema.fields.flatMap((field): FieldIssue[] => {
    const path = `${prefix}${field.jsonName}`;
    const presentNames = [...new Set([field.jsonName, field.name])].filter((name) => Object.hasOwn(json, name));
    if (presentNames.length > 1) return [{ path, reason: `duplicate field "${field.name}"` }];
    const [name] = presentNames;
    if (name === undefined || decodes(schema, { [name]: json[name] })) return [];
    const value = json[name];
    if (field.fieldKind !== 'list') return findInside(field, value, path);
    if (!Array.isArray(value)) return [{ path, reason: 'expected a list' }];
    const isValid = (element: unknown) => decodes(schema, { [name]: [element] });
    const inside = (element: unknown, index: number) => findInside(field, element, `${path}[${index}]`);
    if (value.length <= fixedLimits.listElements)
      return value.flatMap((element, index) => (isValid(element) ? [] : inside(element, index)));
    // In a long list, find only the first invalid element, because it takes too long to decode each element separately.
    const first = value.findIndex((element) => !isValid(element));
    return inside(value[first], first);
  });
}

function findInside(field: DescField, value: unknown, path: string): FieldIssue[] {
  const { message } = field;
  const isOwn = message !== undefined && !message.typeName.startsWith('google.protobuf.');
  const inside = isOwn && isJsonObject(value) ? findInvalid(message, value, `${path}.`) : [];
  return inside.length > 0 ? inside : [{ path, reason: expectedValue(field) }];
}

const largest: ReadonlyMap<ScalarType | undefined, string> = new Map([
  [ScalarType.UINT32, '4294967295'],
  [ScalarType.UINT64, '18446744073709551615'],
]);

function expectedNumber(scalar: ScalarType | undefined): string {
  const most = largest.get(scalar);
  return `expected a whole number${most === undefined ? '' : ` from 0 to ${most}`}, such as 5`;
}

const EXPECTED_DURATION = 'expected a duration in seconds, such as "20s"';
const EXPECTED_BYTES = 'expected base64, such as "dGV4dA=="';

function expectedValue({ message, enum: names, scalar }: DescField): string {
  if (message?.typeName === 'google.protobuf.Duration') return EXPECTED_DURATION;
  if (message?.typeName === 'google.protobuf.Timestamp') return 'expected a time, such as "2026-01-31T12:00:00Z"';
  if (message !== undefined) return 'expected an object';
  if (names !== undefined) return `expected a name, such as "${names.values[1]?.name}"`;
  if (scalar === ScalarType.STRING) return 'expected text, such as "text"';
  if (scalar === ScalarType.BOOL) return 'expected true or false';
  return scalar === ScalarType.BYTES ? EXPECTED_BYTES : expectedNumber(scalar);
}

/** Narrows a result of JSON.parse to the type of JSON values. */
function asJson(value: unknown): JsonValue {
  return value as JsonValue;
}

/**
 * True if `path` is the path of a credential that the record lacks. An export omits a credential together with its
 * field. So a field with an empty text does not count as an omitted credential.
 */
function isOmittedCredential({ credentials = [] }: CheckedSection, value: unknown, path: string) {
  if (!isJsonObject(value) || !credentials.some((credential) => credential.path === path)) return false;
  return valueInEitherSpelling(value, path) === undefined;
}

/** What `inspectJson` finds in a message's JSON: values and fields that the decoder would change, ignore or reject. */
interface JsonFindings {
  /** The paths of 64-bit integers whose JSON numbers JavaScript cannot represent exactly. */
  readonly rounded: string[];
  /** The durations, bytes and integers that ZITADEL's decoder rejects. The decoder of this service may accept them. */
  readonly malformed: FieldIssue[];
  readonly unknown: { readonly fields: string[]; readonly values: { path: string; value: string | number }[] };
}

/**
 * Inspects the value of a field, or an element of a list, and adds the problems to `findings`. Returns the value in a
 * form that the decoder of this service accepts.
 */
type Inspect = (value: unknown, path: string, findings: JsonFindings) => unknown;

interface KnownField {
  readonly jsonName: string;
  readonly inspect: Inspect | undefined;
}

/** Finds the problems in a message's JSON. Converts durations and unknown enumeration values in place. */
export function inspectJson(schema: DescMessage, json: unknown): JsonFindings {
  const findings: JsonFindings = { rounded: [], malformed: [], unknown: { fields: [], values: [] } };
  inspectMessage(schema, json, '', findings);
  return findings;
}

function inspectMessage(schema: DescMessage, json: unknown, prefix: string, findings: JsonFindings): void {
  if (!isJsonObject(json)) return;
  const fieldsByName = knownFields(schema);
  for (const name of Object.keys(json)) {
    const value = json[name];
    if (value === null) continue;
    const field = fieldsByName.get(name);
    if (field === undefined) findings.unknown.fields.push(`${withoutPositions(prefix)}${name}`);
    else if (field.inspect !== undefined) {
      const path = `${prefix}${field.jsonName}`;
      if (!Array.isArray(value)) json[name] = field.inspect(value, path, findings);
      else
        for (const [index, element] of value.entries())
          value[index] = field.inspect(element, `${path}[${index}]`, findings);
    }
  }
}

const withoutPositions = (path: string) => path.replace(/\[\d+\]/g, '');

const fieldsByMessage = new Map<string, ReadonlyMap<string, KnownField>>();

function knownFields(schema: DescMessage): ReadonlyMap<string, KnownField> {
  const cached = fieldsByMessage.get(schema.typeName);
  if (cached !== undefined) return cached;
  const byName = new Map(
    schema.fields.flatMap((field): [string, KnownField][] => {
      const knownField = { jsonName: field.jsonName, inspect: inspector(field) };
      return [field.name, field.jsonName].map((name) => [name, knownField]);
    }),
  );
  fieldsByMessage.set(schema.typeName, byName);
  return byName;
}

const LONG: readonly (ScalarType | undefined)[] = [
  ScalarType.INT64,
  ScalarType.UINT64,
  ScalarType.SINT64,
  ScalarType.FIXED64,
  ScalarType.SFIXED64,
];
const SHORT: readonly (ScalarType | undefined)[] = [ScalarType.INT32, ScalarType.UINT32];

/**
 * Returns the function that inspects a field's value; undefined if the field needs no inspection. Google's own messages
 * have a special JSON form, and only durations among them are inspected.
 */
function inspector({ message, enum: values, scalar }: DescField): Inspect | undefined {
  if (message?.typeName === 'google.protobuf.Duration') return inspectDuration;
  if (message?.typeName.startsWith('google.protobuf.') === true) return undefined;
  if (message !== undefined)
    return (value, path, findings) => {
      inspectMessage(message, value, `${path}.`, findings);
      return value;
    };
  if (values !== undefined) return enumInspector(values);
  if (scalar === ScalarType.BYTES) return inspectBytes;
  if (LONG.includes(scalar)) return integerInspector(scalar, true);
  return SHORT.includes(scalar) ? integerInspector(scalar, false) : undefined;
}

const inspectDuration: Inspect = (value, path, { malformed }) => {
  if (typeof value !== 'string') return value;
  const duration = canonicalDuration(value);
  if (duration === undefined)
    malformed.push({ path, reason: `invalid duration ${JSON.stringify(value)}: ${EXPECTED_DURATION}` });
  return duration ?? value;
};

const inspectBytes: Inspect = (value, path, { malformed }) => {
  if (typeof value === 'string' && !isBase64(value)) malformed.push({ path, reason: EXPECTED_BYTES });
  return value;
};

const JSON_NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

function integerInspector(scalar: ScalarType | undefined, isLong: boolean): Inspect {
  return (value, path, { rounded, malformed }) => {
    if (isLong && typeof value === 'number' && Math.abs(value) > Number.MAX_SAFE_INTEGER) rounded.push(path);
    // The decoder of this service also accepts texts that ZITADEL rejects, such as "08" and "0x10".
    if (typeof value === 'string' && !JSON_NUMBER.test(value)) malformed.push({ path, reason: expectedNumber(scalar) });
    return value;
  };
}

/**
 * The enumerations of which imports keep unknown numbers. ZITADEL's exports contain numbers of these enumerations that
 * ZITADEL's own definition lacks.
 */
const openEnumerations: ReadonlySet<string> = new Set(['zitadel.idp.v1.IDPType']);

function enumInspector({ typeName, values, value: byNumber }: DescEnum): Inspect {
  const names: ReadonlySet<string> = new Set(values.map(({ name }) => name));
  return (value, path, { unknown }) => {
    const isUnknownName = typeof value === 'string' && !names.has(value);
    const isUnknownNumber =
      typeof value === 'number' && byNumber[value] === undefined && !openEnumerations.has(typeName);
    if (!isUnknownName && !isUnknownNumber) return value;
    unknown.values.push({ path: withoutPositions(path), value });
    // Convert the number to a text: the decoder ignores unknown names, but it would keep an unknown number.
    return String(value);
  };
}

const DURATION = /^([+-]?)(?=[\d.])(0|[1-9]\d*)?(?:\.(\d{0,9}))?s$/;

/**
 * Returns a duration in a form that the decoder of this service accepts, such as `0.5s` for `.5s`. Returns undefined
 * for a text that is not a duration.
 */
export function canonicalDuration(text: string): string | undefined {
  const match = DURATION.exec(text);
  if (match === null) return undefined;
  const [, sign, seconds = '0', fraction = ''] = match;
  return `${sign === '-' ? '-' : ''}${seconds}${fraction === '' ? '' : `.${fraction}`}s`;
}

/** Whether a text is base64 in either alphabet, with or without padding. Ignores line breaks. */
export function isBase64(text: string): boolean {
  const digits = /[-_]/.test(text) ? /^[\w-]*$/ : /^[A-Za-z\d+/]*$/;
  const content = text.replace(/[\r\n]/g, '');
  const body = content.replace(/={1,2}$/, '');
  if (!digits.test(body)) return false;
  const isPadded = text.length % 4 === 0;
  return isPadded ? content.length % 4 === 0 : body === content && content.length % 4 !== 1;
}
