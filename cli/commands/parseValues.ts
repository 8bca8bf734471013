import * as zod from 'zod';
import { isWellFormed } from '../../shared/auth/token.ts';
import { type Command, type GivenValues, type Options, usageError } from '../terminal/command.ts';
import { type ValueName, valueFormat } from '../terminal/valueFormats.ts';
import { commonOptions } from './help.ts';

interface ParsedValues {
  readonly arguments: readonly unknown[];
  readonly options: Readonly<Record<string, unknown>>;
}

/** @throws IdentityError USAGE_INVALID for the first missing or invalid value */
export async function parseValues(command: Command, { positionals, options }: GivenValues): Promise<ParsedValues> {
  const described: Options = { ...command.options, ...commonOptions(command) };
  for (const [name, option] of Object.entries(described)) {
    if (option.value !== undefined && option.isRequired && options[name] === undefined)
      throw usageError(`missing option --${name}: run identity ${command.name} --help`);
  }
  const parsedArguments: unknown[] = [];
  for (const [index, { value, isRepeatable }] of command.arguments.entries()) {
    const texts = positionals.slice(index, isRepeatable ? undefined : index + 1);
    const values = await parseAll(value, value, texts);
    parsedArguments.push(isRepeatable ? values : values[0]);
  }
  const parsedOptions: Record<string, unknown> = {};
  for (const [name, option] of Object.entries(described)) {
    const texts = options[name] ?? [];
    const next = texts.find((text) => text.startsWith('--') && Object.hasOwn(described, text.slice(2)));
    if (next !== undefined) throw usageError(`missing value of --${name}: the next argument is ${next}`);
    if (option.value === undefined) {
      parsedOptions[name] = options[name] !== undefined;
    } else {
      const values = await parseAll(option.value, `--${name}`, texts);
      parsedOptions[name] = option.isRepeatable ? values : values[0];
    }
  }
  return { arguments: parsedArguments, options: parsedOptions };
}

/** @param subject the name of the argument or option in errors */
async function parseAll(kind: ValueName, subject: string, texts: readonly string[]): Promise<unknown[]> {
  if (texts.length === 0) return [];
  const { schema, remedy } = valueFormat(kind);
  const loaded = await schema(zod);
  return texts.map((text) => {
    const { success, data } = loaded.safeParse(text);
    if (!success) throw usageError(`invalid ${subject} ${quoteValue(text)}: ${remedy}`);
    if (isWellFormed(text))
      throw usageError(`${subject} is a token, and other users can read command lines: store the token in a file`);
    return data;
  });
}

/** Quotes a value that contains spaces or other characters than printable ASCII. */
function quoteValue(text: string): string {
  return /^[\x21-\x7e]+$/.test(text) ? text : JSON.stringify(text);
}
