import type { DescField } from '@bufbuild/protobuf';
import type {
  BytesRules,
  DurationRules,
  EnumRules,
  FieldRules,
  StringRules,
} from '@zitadel/proto/validate/validate_pb.js';

/** Why a value breaks the rules of its field, in ZITADEL's words (contract 3.2); undefined when it does not. */
export function reasonOf({ type, message }: FieldRules, field: DescField, value: unknown): string | undefined {
  if (value === undefined) return message?.required ? 'value is required' : undefined;
  if (type.case === 'string' && typeof value === 'string') return stringReason(type.value, value);
  if (type.case === 'enum' && typeof value === 'number') return enumReason(type.value, field, value);
  if (type.case === 'bytes' && value instanceof Uint8Array) return bytesReason(type.value, value);
  if (type.case === 'duration' && isDuration(value)) return durationReason(type.value, value);
  return undefined;
}

function stringReason(rules: StringRules, value: string): string | undefined {
  if (rules.ignoreEmpty && value === '') return undefined;
  const runes = lengthReason(
    Number(rules.minLen ?? 0),
    Number(rules.maxLen),
    runeCount(value, Number(rules.maxLen)),
    'runes',
  );
  if (runes !== undefined) return runes;
  const bytes = rules.maxBytes ?? 0n;
  if (bytes > 0n && Buffer.byteLength(value) > bytes) return `value length must be at most ${bytes} bytes`;
  if (rules.prefix && !value.startsWith(rules.prefix)) return `value does not have prefix "${rules.prefix}"`;
  return rules.wellKnown.case === 'email' ? emailReason(value) : undefined;
}

/** Characters outside the basic plane are one rune but two units, so only a text that seems too long needs counting. */
function runeCount(value: string, most: number): number {
  return value.length > most ? [...value].length : value.length;
}

function lengthReason(least: number, most: number, length: number, unit: string): string | undefined {
  const limited = most > 0;
  if (length >= least && (!limited || length <= most)) return undefined;
  if (least > 0 && limited) return `value length must be between ${least} and ${most} ${unit}, inclusive`;
  return least > 0 ? `value length must be at least ${least} ${unit}` : `value length must be at most ${most} ${unit}`;
}

function emailReason(value: string): string | undefined {
  const wrong = 'value must be a valid email address';
  if (value === '') return `${wrong} | caused by: mail: no address`;
  if (!value.includes('@')) return `${wrong} | caused by: mail: missing '@' or angle-addr`;
  return /^[^\s@<>()[\]\\,;:"]{1,64}@[^\s@<>()[\]\\,;:"]{1,255}$/u.test(value) ? undefined : wrong;
}

function enumReason(rules: EnumRules, field: DescField, value: number): string | undefined {
  const values = field.enum?.value;
  if (rules.definedOnly && values?.[value] === undefined) return 'value must be one of the defined enum values';
  if (!rules.notIn.includes(value)) return undefined;
  return `value must not be in list [${rules.notIn.map((number) => values?.[number]?.name ?? number).join(' ')}]`;
}

function bytesReason(rules: BytesRules, value: Uint8Array): string | undefined {
  return lengthReason(Number(rules.minLen), Number(rules.maxLen), value.length, 'bytes');
}

interface Duration {
  readonly seconds: bigint;
  readonly nanos: number;
}

function isDuration(value: unknown): value is Duration {
  return typeof value === 'object' && value !== null && 'seconds' in value && 'nanos' in value;
}

function durationReason({ gte, lte }: DurationRules, value: Duration): string | undefined {
  const within =
    (gte === undefined || nanoseconds(value) >= nanoseconds(gte)) &&
    (lte === undefined || nanoseconds(value) <= nanoseconds(lte));
  return within ? undefined : `value must be inside range [${seconds(gte)}, ${seconds(lte)}]`;
}

function nanoseconds({ seconds: whole, nanos }: Duration): bigint {
  return whole * 1_000_000_000n + BigInt(nanos);
}

function seconds(duration: Duration | undefined): string {
  return `${duration?.seconds ?? 0}s`;
}
