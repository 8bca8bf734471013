import { type DescField, getOption, hasOption, ScalarType } from '@bufbuild/protobuf';
import { rules } from '@zitadel/proto/validate/validate_pb.js';
import { byteLimit } from '../../../../shared/organisation/lengthLimits.ts';
import { awkwardStrings } from '../../../support/strings/awkwardStrings.ts';
import { languageTags } from './languageTags.ts';

/** Characters of one to four bytes, and those that JSON escapes in two and six. */
const units = ['x', 'ü', '€', '😀', '"', '\u0001'];
const MAX_SHORT_BYTES = 40;

/** Blank or almost blank texts. */
const blanks = ['', ' ', '\t\n', '\u00a0', '\u2003', '\u0085', '\u200b', '\ufeff', ' x ', '\u2003x\u2003', '\ufeffx'];
const controls = ['x\0y', 'x\u007fy', 'line\nbreak', '\u2028', '\\u0000', '</script>', '%00', '{{x}}', '"user":{'];

/** Texts with a meaning for a kind of field, by its name. */
const ofName: readonly (readonly [name: RegExp, texts: readonly string[]])[] = [
  [/language$/i, languageTags],
  [
    /phone$/,
    ['+41791234567', '+41 79 123 45 67', '+1 (650) 253-0000', '+0041791234567', '+4179CALLME1', '+٤١٧٩١٢٣٤٥٦٧'],
  ],
  [/email$/i, ['a@b.example', 'Ada <a@b.example>', ' a@b.example ', 'ä@b.example', `${'a'.repeat(64)}@b.example`]],
  [/ur[il]s?$/i, ['https://x.example', ' https://x.example ', ':x', ' :x', '\u2003:x', 'x', '//', 'app:', 'http:x']],
  [/color(_dark)?$/i, ['#fff', '#FFFFFF', '#ffff', ' #fff', '']],
  [/flow_type$/, ['1', '4', 'FLOW_TYPE_EXTERNAL_AUTHENTICATION', '01']],
  [/trigger_type$/, ['1', '6', 'TRIGGER_TYPE_PRE_CREATION']],
  [/^(value|otp_code)$/, ['JBSWY3DPEHPK3PXP', '$2a$10$N9qo8uLOickgx2ZMRZoMyeIjZAgcfl7p92ldGxad68LJZdL17lhWy']],
];

const durations = [
  '0s',
  '-0s',
  '+1s',
  '.5s',
  '1.s',
  '0.000000001s',
  '5s',
  '20s',
  '20.000000001s',
  '-1s',
  '315576000000s',
];
const timestamps = ['0001-01-01T00:00:00Z', '2099-01-01T01:00:00.1+01:00', '9999-12-31T23:59:59.999999999Z'];
const numbers = [0, 1, 8, '72', 73, 4_294_967_295, '18446744073709551615'];

/**
 * Lists the values at the edges of a field, and beyond. Whether a record is imported with such a value does not matter
 * here.
 */
export function edgeValues(field: DescField): readonly unknown[] {
  const values = [...elementValues(field)];
  if (field.fieldKind !== 'list') return [...values, null];
  const [first] = values;
  return [
    ...values.map((value) => [value]),
    values,
    [first, first],
    Array.from({ length: 5_001 }, () => first),
    [],
    null,
  ];
}

function elementValues(field: DescField): readonly unknown[] {
  const { message, enum: type, scalar } = field;
  if (type !== undefined) return [...type.values.flatMap(({ name, number }) => [name, number]), 99, -1, 'UNKNOWN_NAME'];
  if (message?.typeName === 'google.protobuf.Duration') return durations;
  if (message?.typeName === 'google.protobuf.Timestamp') return timestamps;
  if (message !== undefined) return [{}];
  if (scalar === ScalarType.BOOL) return [true, false];
  if (scalar === ScalarType.STRING) return texts(field);
  return scalar === ScalarType.BYTES ? bytes(field) : numbers;
}

/** The longest text for a field, of one repeated character. */
function longestText(field: DescField, unit: string): string {
  return unit.repeat(Math.floor(byteLimit(field) / Buffer.byteLength(unit)));
}

function texts(field: DescField): readonly string[] {
  const short = awkwardStrings.map(({ build }) => build(MAX_SHORT_BYTES)).filter((text) => text.isWellFormed());
  const longest = units.map((unit) => longestText(field, unit));
  const known = ofName.flatMap(([name, some]) => (name.test(field.name) ? some : []));
  return [...known, ...blanks, ...controls, ...short, ...longest, `${longest[0]}x`, ` ${longest[0]?.slice(2)} `];
}

function bytes(field: DescField): readonly string[] {
  const type = hasOption(field, rules) ? getOption(field, rules).type : undefined;
  const most = type?.case === 'bytes' ? Number(type.value.maxLen) : (byteLimit(field) / 4) * 3;
  return ['', 'YQ==', 'YQ', 'YR==', '_-8=', '+/8', Buffer.alloc(most, 0xff).toString('base64')];
}
