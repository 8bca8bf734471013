import { type DescEnum, type DescField, type DescMessage, ScalarType } from '@bufbuild/protobuf';
import { FeatureSet_FieldPresence } from '@bufbuild/protobuf/wkt';
import { isJsonObject, type JsonObject } from '../json/jsonObject.ts';
import { compileRules } from './rules.ts';

/** Whether a value of a field is as exports write it, and keeps the rules of the field if they are to be checked. */
type IsUsual = (value: unknown, checked: boolean) => boolean;

interface UsualField {
  readonly name: string;
  /** Undefined for a field of which no value is called usual. */
  readonly isUsual: IsUsual | undefined;
  /** Whether the rules allow its absence. */
  readonly mayBeAbsent: boolean;
}

const compiled = new Map<string, readonly UsualField[]>();

/**
 * Whether a message's JSON is its own canonical form, as exports write it: nothing but known fields under their JSON names
 * and in their order, without defaults, each with a value of its type in its canonical form. Then decoding and writing it
 * again would return the same, and lose nothing. What is unusual may be valid all the same.
 * @param checked whether the descriptor's rules must be kept (zitadel 3)
 */
export function isUsualMessage(schema: DescMessage, json: unknown, checked: boolean): json is JsonObject {
  if (!isJsonObject(json)) return false;
  const fields = usualFields(schema);
  let at = 0;
  for (const name of Object.keys(json)) {
    let field = fields[at++];
    while (field !== undefined && field.name !== name) {
      if (checked && !field.mayBeAbsent) return false;
      field = fields[at++];
    }
    if (field?.isUsual?.(json[name], checked) !== true) return false;
  }
  if (checked) for (; at < fields.length; at++) if (fields[at]?.mayBeAbsent === false) return false;
  return true;
}

/** Returns a message's fields in the order in which they are written. */
function usualFields(schema: DescMessage): readonly UsualField[] {
  const known = compiled.get(schema.typeName);
  if (known !== undefined) return known;
  const fields = schema.fields.toSorted((a, b) => a.number - b.number).map(compileField);
  compiled.set(schema.typeName, fields);
  return fields;
}

function compileField(field: DescField): UsualField {
  const findReason = compileRules(field);
  const mayBeAbsent = findReason?.(absentValue(field)) === undefined;
  return { name: field.jsonName, isUsual: compileValue(field), mayBeAbsent };
}

/** Returns what a decoded message has in place of an absent field, as far as rules look at it. */
function absentValue(field: DescField): unknown {
  if (!hasDefault(field)) return undefined;
  if (field.enum !== undefined) return field.enum.values[0]?.number;
  return field.scalar === ScalarType.BYTES ? new Uint8Array() : field.scalar === ScalarType.STRING ? '' : 0;
}

/** Whether an absent field has a default value, which therefore is not written. Elements of lists are written whatever they are. */
function hasDefault({ fieldKind, presence }: DescField): boolean {
  return (fieldKind === 'scalar' || fieldKind === 'enum') && presence === FeatureSet_FieldPresence.IMPLICIT;
}

function compileValue(field: DescField): IsUsual | undefined {
  if (field.oneof !== undefined || field.fieldKind === 'map') return undefined;
  const isUsual = compileElement(field);
  if (field.fieldKind !== 'list' || isUsual === undefined) return isUsual;
  return (value, checked) =>
    Array.isArray(value) && value.length > 0 && value.every((element) => isUsual(element, checked));
}

function compileElement(field: DescField): IsUsual | undefined {
  const { message, enum: values, scalar } = field;
  if (message !== undefined) return compileMessage(field, message);
  if (values !== undefined) return compileEnum(field, values);
  if (scalar === ScalarType.STRING) return compileText(field);
  if (scalar === ScalarType.BYTES) return compileBytes(field);
  return scalar === ScalarType.BOOL ? compileBoolean(field) : undefined;
}

/** Google's own messages have a JSON form other than their fields. */
function compileMessage(field: DescField, message: DescMessage): IsUsual | undefined {
  if (message.typeName.startsWith('google.protobuf.')) return undefined;
  const findReason = compileRules(field);
  return (value, checked) => isUsualMessage(message, value, checked) && !(checked && findReason?.(value) !== undefined);
}

function compileEnum(field: DescField, { values, value: byNumber }: DescEnum): IsUsual {
  const findReason = compileRules(field);
  const written = values.filter(({ name, number }) => {
    return byNumber[number]?.name === name && !(hasDefault(field) && number === values[0]?.number);
  });
  const usual: ReadonlySet<unknown> = new Set(written.map(({ name }) => name));
  const valid = written.filter(({ number }) => findReason?.(number) === undefined);
  const usualAndValid: ReadonlySet<unknown> = new Set(valid.map(({ name }) => name));
  return (value, checked) => (checked ? usualAndValid : usual).has(value);
}

function compileText(field: DescField): IsUsual {
  const findReason = compileRules(field);
  const mayBeEmpty = !hasDefault(field);
  return (value, checked) => {
    if (typeof value !== 'string' || (value === '' && !mayBeEmpty) || !value.isWellFormed()) return false;
    return !(checked && findReason?.(value) !== undefined);
  };
}

const BASE64 = /^(?:[A-Za-z\d+/]{4})*(?:[A-Za-z\d+/][AQgw]==|[A-Za-z\d+/]{2}[AEIMQUYcgkosw048]=)?$/;

function compileBytes(field: DescField): IsUsual {
  const findReason = compileRules(field);
  const mayBeEmpty = !hasDefault(field);
  return (value, checked) => {
    if (typeof value !== 'string' || (value === '' && !mayBeEmpty) || !BASE64.test(value)) return false;
    return !(checked && findReason?.(Buffer.from(value, 'base64')) !== undefined);
  };
}

function compileBoolean(field: DescField): IsUsual {
  const mayBeFalse = !hasDefault(field);
  return (value) => value === true || (mayBeFalse && value === false);
}
