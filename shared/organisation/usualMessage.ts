import { type DescEnum, type DescField, type DescMessage, ScalarType } from '@bufbuild/protobuf';
import { FeatureSet_FieldPresence } from '@bufbuild/protobuf/wkt';
import { isJsonObject, type JsonObject } from '../json/jsonObject.ts';
import { inWrittenOrder } from './recordBody.ts';
import type { FieldPath } from './relations.ts';
import { compileRules } from './rules.ts';

/**
 * The order of the fields in a value of usual form (see `usualMessage`): `written` if it is the canonical order,
 * otherwise `other`.
 */
type Order = 'written' | 'other';

/**
 * Returns the order of a value's fields; undefined if the value is not in usual form, or if `checked` is true and the
 * value breaks a rule.
 */
type FindOrder = (value: unknown, checked: boolean) => Order | undefined;

interface UsualField {
  readonly name: string;
  readonly findOrder: FindOrder | undefined;
  readonly mayBeAbsent: boolean;
  readonly message: DescMessage | undefined;
}

interface UsualFields {
  readonly fields: readonly UsualField[];
  readonly positions: ReadonlyMap<string, number>;
}

const usualFieldsByMessage = new Map<string, UsualFields>();

/**
 * Returns a message's JSON in canonical form, but only if the message has the usual form, which is the form of exports.
 * In usual form, a message contains only known fields with their JSON names, no default values, and only canonical
 * values. So it need not be decoded and encoded: only the order of its fields may differ from canonical form, because
 * exports put secrets first. A message in another form may be valid too.
 * @param checked whether the message must satisfy the descriptor's rules (zitadel 3)
 * @returns the JSON itself if its fields are in order; undefined for a message in another form
 */
export function usualMessage(schema: DescMessage, json: unknown, checked: boolean): JsonObject | undefined {
  const order = findOrder(schema, json, checked);
  if (order === undefined || !isJsonObject(json)) return undefined;
  return order === 'written' ? json : inWrittenOrder(schema, json);
}

/**
 * True if the fields at `paths` of a canonical message have the usual form and satisfy their rules. If a field is
 * absent, its rules must allow the absence.
 */
export function hasUsualFields(schema: DescMessage, json: JsonObject, paths: readonly FieldPath[]): boolean {
  return paths.every((path) => isUsualAt(schema, json, path.split('.')));
}

function isUsualAt(schema: DescMessage, json: JsonObject, [name = '', ...inner]: readonly string[]): boolean {
  const { fields, positions } = usualFields(schema);
  const field = fields[positions.get(name) ?? -1];
  if (field === undefined) return false;
  const value = json[name];
  if (value === undefined) return field.mayBeAbsent;
  if (inner.length === 0) return field.findOrder?.(value, true) !== undefined;
  return field.message !== undefined && isJsonObject(value) && isUsualAt(field.message, value, inner);
}

function findOrder(schema: DescMessage, json: unknown, checked: boolean): Order | undefined {
  if (!isJsonObject(json)) return undefined;
  const { fields, positions } = usualFields(schema);
  let order: Order = 'written';
  let at = 0;
  for (const name in json) {
    const position = fields[at]?.name === name ? at : (positions.get(name) ?? -1);
    const inner = fields[position]?.findOrder?.(json[name], checked);
    if (inner === undefined) return undefined;
    if (position < at || inner === 'other') order = 'other';
    if (position < at) continue;
    if (checked && isMissing(fields, at, position, json)) return undefined;
    at = position + 1;
  }
  return checked && isMissing(fields, at, fields.length, json) ? undefined : order;
}

function isMissing(fields: readonly UsualField[], from: number, to: number, json: JsonObject): boolean {
  for (let at = from; at < to; at++) {
    const field = fields[at];
    if (field?.mayBeAbsent === false && !Object.hasOwn(json, field.name)) return true;
  }
  return false;
}

function usualFields(schema: DescMessage): UsualFields {
  const cachedFields = usualFieldsByMessage.get(schema.typeName);
  if (cachedFields !== undefined) return cachedFields;
  const fields = schema.fields.toSorted((a, b) => a.number - b.number).map(compileField);
  const usual = { fields, positions: new Map(fields.map(({ name }, position) => [name, position])) };
  usualFieldsByMessage.set(schema.typeName, usual);
  return usual;
}

function compileField(field: DescField): UsualField {
  const findBroken = compileRules(field);
  const mayBeAbsent = findBroken?.(absentValue(field)) === undefined;
  return { name: field.jsonName, findOrder: compileValue(field), mayBeAbsent, message: field.message };
}

/** Returns the value of a field that is absent from a message, so that the field's rules can check this value. */
function absentValue(field: DescField): unknown {
  if (!hasDefault(field)) return undefined;
  if (field.enum !== undefined) return field.enum.values[0]?.number;
  return field.scalar === ScalarType.BYTES ? new Uint8Array() : field.scalar === ScalarType.STRING ? '' : 0;
}

/**
 * True if a message does not contain the field when its value is the default. For a list this is false, because a list
 * contains its elements even if their value is the default.
 */
function hasDefault({ fieldKind, presence }: DescField): boolean {
  return (fieldKind === 'scalar' || fieldKind === 'enum') && presence === FeatureSet_FieldPresence.IMPLICIT;
}

function compileValue(field: DescField): FindOrder | undefined {
  if (field.oneof !== undefined || field.fieldKind === 'map') return undefined;
  const find = compileElement(field);
  if (field.fieldKind !== 'list' || find === undefined) return find;
  return (value, checked) => {
    if (!Array.isArray(value) || value.length === 0) return undefined;
    let order: Order = 'written';
    for (const element of value) {
      const elementOrder = find(element, checked);
      if (elementOrder === undefined) return undefined;
      if (elementOrder === 'other') order = 'other';
    }
    return order;
  };
}

function compileElement(field: DescField): FindOrder | undefined {
  const { message, enum: values, scalar } = field;
  if (message !== undefined) return compileMessage(field, message);
  if (values !== undefined) return compileScalar(compileEnum(field, values));
  if (scalar === ScalarType.STRING) return compileScalar(compileText(field));
  if (scalar === ScalarType.BYTES) return compileScalar(compileBytes(field));
  return scalar === ScalarType.BOOL ? compileScalar(compileBoolean(field)) : undefined;
}

/**
 * Creates the function that checks whether a message is in usual form. Returns undefined for Google's own messages,
 * because their JSON form differs from their fields.
 */
function compileMessage(field: DescField, message: DescMessage): FindOrder | undefined {
  if (message.typeName.startsWith('google.protobuf.')) return undefined;
  const findBroken = compileRules(field);
  return (value, checked) => {
    const order = findOrder(message, value, checked);
    return checked && findBroken?.(value) !== undefined ? undefined : order;
  };
}

type IsUsual = (value: unknown, checked: boolean) => boolean;

function compileScalar(isUsual: IsUsual): FindOrder {
  return (value, checked) => (isUsual(value, checked) ? 'written' : undefined);
}

function compileEnum(field: DescField, { values, value: byNumber }: DescEnum): IsUsual {
  const findBroken = compileRules(field);
  const written = values.filter(({ name, number }) => {
    return byNumber[number]?.name === name && !(hasDefault(field) && number === values[0]?.number);
  });
  const usual: ReadonlySet<unknown> = new Set(written.map(({ name }) => name));
  const valid = written.filter(({ number }) => findBroken?.(number) === undefined);
  const usualAndValid: ReadonlySet<unknown> = new Set(valid.map(({ name }) => name));
  return (value, checked) => (checked ? usualAndValid : usual).has(value);
}

function compileText(field: DescField): IsUsual {
  const findBroken = compileRules(field);
  const mayBeEmpty = !hasDefault(field);
  return (value, checked) => {
    if (typeof value !== 'string' || (value === '' && !mayBeEmpty) || !value.isWellFormed()) return false;
    return !(checked && findBroken?.(value) !== undefined);
  };
}

const BASE64 = /^(?:[A-Za-z\d+/]{4})*(?:[A-Za-z\d+/][AQgw]==|[A-Za-z\d+/]{2}[AEIMQUYcgkosw048]=)?$/;

function compileBytes(field: DescField): IsUsual {
  const findBroken = compileRules(field);
  const mayBeEmpty = !hasDefault(field);
  return (value, checked) => {
    if (typeof value !== 'string' || (value === '' && !mayBeEmpty) || !BASE64.test(value)) return false;
    return !(checked && findBroken?.(Buffer.from(value, 'base64')) !== undefined);
  };
}

function compileBoolean(field: DescField): IsUsual {
  const mayBeFalse = !hasDefault(field);
  return (value) => value === true || (mayBeFalse && value === false);
}
