import { z } from 'zod';
import { isWellFormed } from '../shared/auth/token.ts';
import { port } from '../shared/config.ts';
import { userIdParameter } from '../shared/wire/userId.ts';
import { type Command, type GivenValues, type Option, UsageError } from './command.ts';
import { spanPattern } from './spans.ts';
import { type ValueName, valueKind } from './values.ts';

/** The valid values of a kind, and what to specify instead of another one. */
interface Check {
  readonly schema: z.ZodType;
  readonly remedy: string;
}

/** Organisations have ids as users have. */
const id: Check = { schema: userIdParameter, remedy: 'specify an id of 1 to 200 characters' };
const path: Check = { schema: z.string().min(1), remedy: 'specify a path' };

/** What is valid for each kind of values, by the schemas of the interface and of the configuration. */
const checks: Readonly<Record<ValueName, Check>> = {
  DIR: { schema: z.string().min(1), remedy: 'specify a directory' },
  DURATION: { schema: z.string().regex(spanPattern), remedy: 'specify a span such as 30d, 12h or 45m' },
  FILE: path,
  HOST: {
    schema: z.union([z.ipv4(), z.ipv6(), z.hostname()]),
    remedy: 'specify an address of this machine, such as 127.0.0.1',
  },
  // The rules of export files decide about names: those of organisations and of service users differ.
  NAME: { schema: z.string(), remedy: '' },
  OPERATION: choice('OPERATION'),
  ORG_ID: id,
  PORT: { schema: port, remedy: 'specify a number from 0 to 65535 (0 picks a free port)' },
  'PROJECT[/DATABASE]': {
    schema: z.string().regex(/^[^/]+(\/[^/]+)?$/),
    remedy: 'specify PROJECT or PROJECT/DATABASE',
  },
  ROLE: choice('ROLE'),
  SHELL: choice('SHELL'),
  TOKEN_ID: {
    schema: z.string().regex(/^[0-9a-f]{32}$/),
    remedy: 'specify the 32 digits that identity pat list shows, not the token itself',
  },
  USER_ID: id,
};

function choice(name: ValueName): Check {
  const { choices = [] } = valueKind(name);
  return { schema: z.enum(choices), remedy: `choose one of ${choices.join(', ')}` };
}

/**
 * Checks that a call has all required options, and every value.
 * @throws UsageError for the first missing or invalid one
 */
export function checkValues(command: Command, options: readonly Option[], given: GivenValues): void {
  const missing = options.find(({ name, isRequired }) => isRequired === true && given.options[name] === undefined);
  if (missing !== undefined)
    throw new UsageError(`missing option --${missing.name}: run identity ${command.name} --help`);
  for (const [index, { value, isRepeatable }] of command.arguments.entries()) {
    const texts = given.positionals.slice(index, isRepeatable === true ? undefined : index + 1);
    for (const text of texts) checkValue(value, value, text);
  }
  for (const { name, value } of options) {
    for (const text of given.options[name] ?? []) {
      if (options.some((option) => text === `--${option.name}`))
        throw new UsageError(`missing value of --${name}, before ${text}`);
      if (value !== undefined) checkValue(value, `--${name}`, text);
    }
  }
}

/** @param subject what the message calls the value */
function checkValue(kind: ValueName, subject: string, text: string): void {
  const { schema, remedy } = checks[kind];
  if (!schema.safeParse(text).success) throw new UsageError(`invalid ${subject} ${quote(text)}: ${remedy}`);
}

/** Quotes a value that would be invisible, or break the line. A token must not reach a log by way of an error. */
function quote(text: string): string {
  if (isWellFormed(text)) return '(a token)';
  return /^[\x21-\x7e]+$/.test(text) ? text : JSON.stringify(text);
}
