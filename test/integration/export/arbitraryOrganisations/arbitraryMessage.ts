import { type DescField, type DescMessage, getOption, hasOption, ScalarType } from '@bufbuild/protobuf';
import { rules } from '@zitadel/proto/validate/validate_pb.js';
import fc from 'fast-check';

type Json = Record<string, unknown>;

/**
 * Any JSON that a message may have by its descriptor: its types and their rules; colours and phone numbers in ZITADEL's
 * form.
 * @param inner a field that is always present, although no rule requires it
 */
export function arbitraryMessage(schema: DescMessage, inner?: string): fc.Arbitrary<Json> {
  if (schema.typeName === 'google.protobuf.Timestamp') throw new Error('timestamps are values, not messages');
  const fields = schema.fields
    .filter((field) => field.oneof === undefined)
    .map((field) => [field, arbitraryField(field)] as const);
  const required = fields
    .filter(([field]) => isRequired(field) || field.jsonName === inner)
    .map(([field]) => field.jsonName);
  const values = Object.fromEntries(fields.map(([field, value]) => [field.jsonName, value]));
  return fc.record(values, { requiredKeys: required });
}

function rulesOf(field: DescField) {
  return hasOption(field, rules) ? getOption(field, rules) : undefined;
}

/** Whether a field without a value would break a rule. */
function isRequired(field: DescField): boolean {
  const { message, type } = rulesOf(field) ?? {};
  if (message?.required === true) return true;
  if (type?.case === 'enum') return type.value.notIn.includes(0);
  const least = type?.case === 'string' || type?.case === 'bytes' ? Number(type.value.minLen ?? 0) : 0;
  return !field.proto.proto3Optional && (least > 0 || isEmail(field) || isPhone(field));
}

function isEmail(field: DescField): boolean {
  const type = rulesOf(field)?.type;
  return type?.case === 'string' && type.value.wellKnown.case === 'email' && type.value.ignoreEmpty !== true;
}

function isPhone(field: DescField): boolean {
  const type = rulesOf(field)?.type;
  return type?.case === 'string' && type.value.prefix === '+';
}

function arbitraryField(field: DescField): fc.Arbitrary<unknown> {
  if (field.fieldKind === 'list') return fc.array(arbitraryValue(field), { minLength: 1, maxLength: 3 });
  return arbitraryValue(field);
}

function arbitraryValue(field: DescField): fc.Arbitrary<unknown> {
  if (field.enum !== undefined) return arbitraryEnum(field, field.enum.values);
  if (field.message !== undefined) return arbitraryNested(field, field.message);
  return arbitraryScalar(field);
}

function arbitraryEnum(field: DescField, values: readonly { number: number; name: string }[]): fc.Arbitrary<string> {
  const type = rulesOf(field)?.type;
  const refused = type?.case === 'enum' ? type.value.notIn : [];
  return fc.constantFrom(...values.filter(({ number }) => !refused.includes(number)).map(({ name }) => name));
}

function arbitraryNested(field: DescField, schema: DescMessage): fc.Arbitrary<unknown> {
  if (schema.typeName === 'google.protobuf.Duration') {
    const type = rulesOf(field)?.type;
    const most = type?.case === 'duration' ? Number(type.value.lte?.seconds ?? 1_000) : 1_000_000;
    return fc.integer({ min: 0, max: most }).map((seconds) => `${seconds}s`);
  }
  if (schema.typeName === 'google.protobuf.Timestamp') {
    const range = { min: new Date('2020-01-01T00:00:00Z'), max: new Date('2099-01-01T00:00:00Z'), noInvalidDate: true };
    return fc.date(range).map((date) => date.toISOString());
  }
  return arbitraryMessage(schema);
}

function arbitraryScalar(field: DescField): fc.Arbitrary<unknown> {
  const scalar = field.fieldKind === 'list' ? field.scalar : field.fieldKind === 'scalar' ? field.scalar : undefined;
  switch (scalar) {
    case ScalarType.BOOL:
      return fc.boolean();
    case ScalarType.UINT32:
      return fc.nat();
    case ScalarType.UINT64:
      return fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }).map(String);
    case ScalarType.BYTES:
      return fc.uint8Array({ minLength: 1, maxLength: 40 }).map((bytes) => Buffer.from(bytes).toString('base64'));
    case ScalarType.STRING:
      return arbitraryString(field);
    default:
      throw new Error(`no values for ${field.toString()}`);
  }
}

function arbitraryString(field: DescField): fc.Arbitrary<string> {
  const type = rulesOf(field)?.type;
  if (/color(_dark)?$/.test(field.name)) return fc.stringMatching(/^#([0-9a-fA-F]{3}|[0-9a-fA-F]{6})$/);
  if (type?.case !== 'string') return fc.string({ unit: 'grapheme', maxLength: 30 });
  if (type.value.wellKnown.case === 'email') return fc.emailAddress({ size: '-1' });
  if (type.value.prefix === '+') return fc.stringMatching(/^\+4179[0-9]{7}$/);
  const maxLength = Math.min(30, Number(type.value.maxLen) || 30);
  const minLength = Math.max(1, Number(type.value.minLen ?? 0));
  // A grapheme may be several characters, so lengths count in graphemes of one character.
  return fc
    .string({ unit: 'binary', minLength, maxLength })
    .filter((text) => text.isWellFormed() && !text.includes('\0'));
}
