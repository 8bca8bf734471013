import { type DescField, type DescMessage, getOption, hasOption, type Message } from '@bufbuild/protobuf';
import { type FieldRules, rules } from '@zitadel/proto/validate/validate_pb.js';
import { reasonOf } from './ruleReasons.ts';

/** A broken rule: where in the message, in JSON names (`user.email.email`), and why. */
interface RuleFault {
  readonly path: string;
  readonly reason: string;
  /** The same as ZITADEL says it (contract 3.2): each message and field on the way. */
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
 * Checks a message by the rules that its descriptor carries (contract 3), nested ones included.
 * @returns every broken rule, one a field; none where all hold
 */
export function checkRules(schema: DescMessage, message: Message): RuleFault[] {
  const faults: RuleFault[] = [];
  checkMessage(checksOf(schema), message, '', '', faults);
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
  faults: RuleFault[],
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
  faults: RuleFault[],
): void {
  const reason = check.rules === undefined ? undefined : reasonOf(check.rules, check.field, value);
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
function checksOf(schema: DescMessage): readonly FieldCheck[] {
  const known = compiled.get(schema.typeName);
  if (known !== undefined) return known;
  const checks = schema.fields
    .map((field) => checkOf(schema, field))
    .filter((check) => check.rules ?? check.nested.length > 0);
  compiled.set(schema.typeName, checks);
  return checks;
}

function checkOf(schema: DescMessage, field: DescField): FieldCheck {
  return {
    field,
    goName: `${goMessageName(schema)}.${goCase(field.name)}`,
    rules: hasOption(field, rules) ? getOption(field, rules) : undefined,
    nested: field.message === undefined ? [] : checksOf(field.message),
  };
}

/** A nested message's name has its parents' before it, with underscores. */
function goMessageName({ name, parent }: DescMessage): string {
  return parent === undefined ? name : `${goMessageName(parent)}_${name}`;
}

function goCase(name: string): string {
  return name.replace(/(?:^|_)([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}
