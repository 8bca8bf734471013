// Checks records by the validation rules in ZITADEL's message definitions. Omits the rules that the records in
// ZITADEL's own exports may break.

import { type DescField, type DescMessage, getOption, hasOption, type Message } from '@bufbuild/protobuf';
import {
  type BytesRules,
  type DurationRules,
  type EnumRules,
  type FieldRules,
  rules,
  type StringRules,
} from '@zitadel/proto/validate/validate_pb.js';
import { getsPrefix, keepsMaximum, keepsMinimum } from './storedRules.ts';
import { isDotAtoms, isEmailAddress, quotedOrLiteral, trimSpace } from './valueRules.ts';

interface RuleIssue {
  /** The field's path in JSON names, such as `user.email.email`. */
  readonly path: string;
  readonly reason: string;
  /**
   * The text with which ZITADEL reports the issue (zitadel 3.2). The text contains the names of all messages and fields
   * on the path.
   */
  readonly message: string;
}

interface FieldCheck {
  readonly field: DescField;
  /** The field's name in ZITADEL's Go code, such as `ImportHumanUserRequest_Email.Email`. */
  readonly goName: string;
  readonly findBroken: FindBroken | undefined;
  readonly nested: readonly FieldCheck[];
}

/** A part of an error text in two wordings: in plain words, and as ZITADEL words it (zitadel 3.2). */
interface Wording {
  readonly plain: string;
  readonly zitadels: string;
}

type FindBroken = (value: unknown) => Wording | undefined;

const EMBEDDED = 'embedded message failed validation';
const checksByMessage = new Map<string, readonly FieldCheck[]>();

/**
 * The maximum number of issues in an error about a file, because a single list could have hundreds of thousands of
 * issues.
 */
export const MAX_ISSUES = 100;

/**
 * Checks a message and its nested messages against the rules of its descriptor (zitadel 3).
 * @returns at most one broken rule per value, and at most 100 in total
 */
export function checkRules(schema: DescMessage, message: Message): RuleIssue[] {
  const issues: RuleIssue[] = [];
  checkMessage(compileChecks(schema), message, '', '', issues);
  return issues;
}

function checkMessage(
  checks: readonly FieldCheck[],
  message: object,
  path: string,
  prefix: string,
  issues: RuleIssue[],
): void {
  for (const check of checks) {
    const value: unknown = Reflect.get(message, check.field.localName);
    const values = Array.isArray(value) && check.field.fieldKind === 'list' ? value : [value];
    for (const [index, element] of values.entries()) {
      if (issues.length >= MAX_ISSUES) return;
      const position = check.field.fieldKind === 'list' ? `[${index}]` : '';
      checkField(check, element, `${path}${check.field.jsonName}${position}`, position, prefix, issues);
    }
  }
}

function checkField(
  check: FieldCheck,
  value: unknown,
  path: string,
  position: string,
  prefix: string,
  issues: RuleIssue[],
): void {
  const broken = check.findBroken?.(value);
  if (broken !== undefined) {
    const message = `${prefix}invalid ${check.goName}${position}: ${broken.zitadels}`;
    issues.push({ path, reason: broken.plain, message });
  } else if (check.nested.length > 0 && typeof value === 'object' && value !== null) {
    checkMessage(
      check.nested,
      value,
      `${path}.`,
      `${prefix}invalid ${check.goName}${position}: ${EMBEDDED} | caused by: `,
      issues,
    );
  }
}

function compileChecks(schema: DescMessage): readonly FieldCheck[] {
  const cached = checksByMessage.get(schema.typeName);
  if (cached !== undefined) return cached;
  const checks = schema.fields
    .map((field) => compileCheck(schema, field))
    .filter((check) => check.findBroken !== undefined || check.nested.length > 0);
  checksByMessage.set(schema.typeName, checks);
  return checks;
}

function compileCheck(schema: DescMessage, field: DescField): FieldCheck {
  return {
    field,
    goName: `${goMessageName(schema)}.${goCase(field.name)}`,
    findBroken: compileRules(field),
    nested: field.message === undefined ? [] : compileChecks(field.message),
  };
}

function goMessageName({ name, parent }: DescMessage): string {
  return parent === undefined ? name : `${goMessageName(parent)}_${name}`;
}

function goCase(name: string): string {
  return name.replace(/(?:^|_)([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

/** Creates a function that checks a value by the field's rules. Returns undefined for a field without rules. */
export function compileRules(field: DescField): FindBroken | undefined {
  if (!hasOption(field, rules)) return undefined;
  const { type, message } = getOption(field, rules);
  const absent = message?.required === true ? { plain: MISSING, zitadels: 'value is required' } : undefined;
  const findBroken = compileType(type, field);
  const isOptional = field.proto.proto3Optional;
  return (value) => {
    if (value === undefined) return absent;
    const broken = findBroken(value);
    return isOptional && value === '' && broken !== undefined
      ? { ...broken, plain: 'empty: remove the field' }
      : broken;
  };
}

/**
 * True if ZITADEL rejects a message that lacks the field. This may be true even if ZITADEL's stored records lack the
 * field.
 */
export function isRequired(field: DescField): boolean {
  if (!hasOption(field, rules)) return false;
  const { type, message } = getOption(field, rules);
  if (type.case !== 'string' || field.proto.proto3Optional) return message?.required === true;
  const { minLen, wellKnown, ignoreEmpty } = type.value;
  return Number(minLen ?? 0) > 0 || (wellKnown.case === 'email' && !ignoreEmpty);
}

function compileType(type: FieldRules['type'], field: DescField): FindBroken {
  switch (type.case) {
    case 'string': {
      const findBroken = compileTextRules(type.value, field);
      return (value) => (typeof value === 'string' ? findBroken(value) : undefined);
    }
    case 'enum':
      return (value) => (typeof value === 'number' ? enumBroken(type.value, field, value) : undefined);
    case 'bytes':
      return (value) => (value instanceof Uint8Array ? bytesBroken(type.value, field, value) : undefined);
    case 'duration':
      return (value) => (isDuration(value) && keepsMinimum(field) ? durationBroken(type.value, value) : undefined);
    default:
      return () => undefined;
  }
}

function compileTextRules(
  { ignoreEmpty, prefix, wellKnown, ...rules }: StringRules,
  field: DescField,
): (value: string) => Wording | undefined {
  const bounds = boundsOf(field, rules);
  return (value) => {
    if (ignoreEmpty && value === '') return undefined;
    const broken = lengthBroken(bounds, bounds.most > 0 ? [...value].length : value.length, RUNES);
    if (broken !== undefined) return broken;
    if (prefix && !value.startsWith(prefix) && !getsPrefix(field, value)) {
      const plain = `expected a text that begins with ${JSON.stringify(prefix)}`;
      return { plain, zitadels: `value does not have prefix "${prefix}"` };
    }
    return wellKnown.case === 'email' ? emailBroken(value) : undefined;
  };
}

interface Bounds {
  /**
   * `min` and `max` are the bounds that ZITADEL enforces in requests, and quotes in error texts. The number 0 means
   * that there is no bound.
   */
  readonly min: number;
  readonly max: number;
  /**
   * `least` and `most` are the bounds that all values stored in ZITADEL satisfy. The number 0 means that there is no
   * bound.
   */
  readonly least: number;
  readonly most: number;
}

function boundsOf(field: DescField, { minLen, maxLen }: Pick<StringRules | BytesRules, 'minLen' | 'maxLen'>): Bounds {
  const [min, max] = [Number(minLen ?? 0), Number(maxLen ?? 0)];
  return { min, max, least: keepsMinimum(field) ? min : 0, most: keepsMaximum(field) ? max : 0 };
}

const RUNES: Wording = { plain: 'character', zitadels: 'runes' };
const BYTES: Wording = { plain: 'byte', zitadels: 'bytes' };

export const MISSING = 'missing';

function lengthBroken({ min, max, least, most }: Bounds, length: number, unit: Wording): Wording | undefined {
  if (length >= least && (most === 0 || length <= most)) return undefined;
  const prefix = length === 0 ? `${MISSING} or empty: ` : '';
  const units = `${unit.plain}${(most || least) === 1 ? '' : 's'}`;
  const accepted = least > 0 && most > 0 ? `${least} to ${most}` : oneBound(least, most);
  const isBetween = min > 0 && max > 0;
  const bounds = isBetween
    ? `between ${min} and ${max} ${unit.zitadels}, inclusive`
    : `${oneBound(min, max)} ${unit.zitadels}`;
  return { plain: `${prefix}expected ${accepted} ${units}`, zitadels: `value length must be ${bounds}` };
}

function oneBound(least: number, most: number): string {
  return least > 0 ? `at least ${least}` : `at most ${most}`;
}

function emailBroken(value: string): Wording | undefined {
  const cause = emailRuleReason(value);
  if (cause === undefined || isEmailAddress(value)) return undefined;
  const zitadels = `value must be a valid email address | caused by: ${cause}`;
  const prefix = trimSpace(value) === '' ? `${MISSING} or empty: ` : '';
  return { plain: `${prefix}expected an e-mail address, such as "ann@example.com"`, zitadels };
}

const inAngles = /^[^@<>]*<([^<>]*)>$/;
/**
 * Returns the reason why every release of ZITADEL rejects a text as an e-mail address in a request (zitadel 3.2).
 * Returns undefined if a release accepts the text. In a request, ZITADEL accepts an address in angle brackets after a
 * name, which it does not accept for a person (zitadel 3.4).
 */
export function emailRuleReason(text: string): string | undefined {
  const trimmed = trimSpace(text);
  if (trimmed === '') return 'mail: no address';
  const address = inAngles.exec(trimmed)?.[1] ?? trimmed;
  return isDotAtoms(address) || quotedOrLiteral.test(address) ? undefined : "mail: missing '@' or angle-addr";
}

function enumBroken(rules: EnumRules, field: DescField, value: number): Wording | undefined {
  const values = field.enum?.value;
  if (rules.definedOnly && values?.[value] === undefined)
    return { plain: 'unknown value', zitadels: 'value must be one of the defined enum values' };
  if (!rules.notIn.includes(value)) return undefined;
  const names = rules.notIn.map((number) => values?.[number]?.name ?? number);
  return {
    plain: `expected another value than ${names.join(', ')}`,
    zitadels: `value must not be in list [${names.join(' ')}]`,
  };
}

function bytesBroken(rules: BytesRules, field: DescField, value: Uint8Array): Wording | undefined {
  return lengthBroken(boundsOf(field, rules), value.length, BYTES);
}

interface Duration {
  readonly seconds: bigint;
  readonly nanos: number;
}

function isDuration(value: unknown): value is Duration {
  return typeof value === 'object' && value !== null && 'seconds' in value && 'nanos' in value;
}

function durationBroken({ gte, lte }: DurationRules, value: Duration): Wording | undefined {
  const within =
    (gte === undefined || nanoseconds(value) >= nanoseconds(gte)) &&
    (lte === undefined || nanoseconds(value) <= nanoseconds(lte));
  if (within) return undefined;
  const least = formatSeconds(gte);
  const most = formatSeconds(lte);
  return {
    plain: `expected a duration from ${least} to ${most}`,
    zitadels: `value must be inside range [${least}, ${most}]`,
  };
}

function nanoseconds({ seconds, nanos }: Duration): bigint {
  return seconds * 1_000_000_000n + BigInt(nanos);
}

function formatSeconds(duration: Duration | undefined): string {
  return `${duration?.seconds ?? 0}s`;
}
