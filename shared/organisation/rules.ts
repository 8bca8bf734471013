import { type DescField, type DescMessage, getOption, hasOption, type Message } from '@bufbuild/protobuf';
import {
  type BytesRules,
  type DurationRules,
  type EnumRules,
  type FieldRules,
  rules,
  type StringRules,
} from '@zitadel/proto/validate/validate_pb.js';

/** A broken rule: where in the message, in JSON names (`user.email.email`), and why. */
interface RuleIssue {
  readonly path: string;
  readonly reason: string;
  /** The same as ZITADEL says it (zitadel 3.2): each message and field on the way. */
  readonly message: string;
}

interface FieldCheck {
  readonly field: DescField;
  /** `ImportHumanUserRequest_Email.Email`, the field as ZITADEL's Go code calls it. */
  readonly goName: string;
  readonly rules: FieldRules | undefined;
  readonly nested: readonly FieldCheck[];
}

const EMBEDDED = 'embedded message failed validation';
const compiled = new Map<string, readonly FieldCheck[]>();

/**
 * Checks a message by the rules that its descriptor carries (zitadel 3), nested ones included.
 * @returns every broken rule, one a field; none where all hold
 */
export function checkRules(schema: DescMessage, message: Message): RuleIssue[] {
  const faults: RuleIssue[] = [];
  checkMessage(compileChecks(schema), message, '', '', faults);
  return faults;
}

/** A field of the document as ZITADEL's messages lead to what is inside it: `invalid DataOrg.HumanUsers[3]: … | caused by: `. */
export function causedBy(owner: string, protoName: string, index?: number): string {
  const at = index === undefined ? '' : `[${index}]`;
  return `invalid ${owner}.${goCase(protoName)}${at}: ${EMBEDDED} | caused by: `;
}

function checkMessage(
  checks: readonly FieldCheck[],
  message: object,
  path: string,
  lead: string,
  faults: RuleIssue[],
): void {
  for (const check of checks) {
    const value: unknown = Reflect.get(message, check.field.localName);
    const values = Array.isArray(value) && check.field.fieldKind === 'list' ? value : [value];
    for (const [index, one] of values.entries()) {
      const at = check.field.fieldKind === 'list' ? `[${index}]` : '';
      checkField(check, one, `${path}${check.field.jsonName}${at}`, at, lead, faults);
    }
  }
}

function checkField(
  check: FieldCheck,
  value: unknown,
  path: string,
  at: string,
  lead: string,
  faults: RuleIssue[],
): void {
  const reason = check.rules === undefined ? undefined : brokenRule(check.rules, check.field, value);
  if (reason !== undefined) {
    faults.push({ path, reason, message: `${lead}invalid ${check.goName}${at}: ${reason}` });
  } else if (check.nested.length > 0 && typeof value === 'object' && value !== null) {
    checkMessage(
      check.nested,
      value,
      `${path}.`,
      `${lead}invalid ${check.goName}${at}: ${EMBEDDED} | caused by: `,
      faults,
    );
  }
}

/** The fields of a message that have rules, or lead to fields that have. */
function compileChecks(schema: DescMessage): readonly FieldCheck[] {
  const known = compiled.get(schema.typeName);
  if (known !== undefined) return known;
  const checks = schema.fields
    .map((field) => compileCheck(schema, field))
    .filter((check) => check.rules ?? check.nested.length > 0);
  compiled.set(schema.typeName, checks);
  return checks;
}

function compileCheck(schema: DescMessage, field: DescField): FieldCheck {
  return {
    field,
    goName: `${goMessageName(schema)}.${goCase(field.name)}`,
    rules: hasOption(field, rules) ? getOption(field, rules) : undefined,
    nested: field.message === undefined ? [] : compileChecks(field.message),
  };
}

/** A nested message's name has its parents' before it, with underscores. */
function goMessageName({ name, parent }: DescMessage): string {
  return parent === undefined ? name : `${goMessageName(parent)}_${name}`;
}

function goCase(name: string): string {
  return name.replace(/(?:^|_)([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

/** Why a value breaks the rules of its field, in ZITADEL's words (zitadel 3.2); undefined when it does not. */
function brokenRule({ type, message }: FieldRules, field: DescField, value: unknown): string | undefined {
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
