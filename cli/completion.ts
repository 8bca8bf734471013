import { type Command, flag, type Option, type Parameter } from './command.ts';
import { commonOptions } from './help.ts';
import { valueKind } from './values.ts';

/** What the commands with a common first word are about, by that word. */
export type Families = Readonly<Record<string, string>>;

/** A word that may follow. */
interface Candidate {
  readonly word: string;
  readonly meaning: string;
}

/** What may follow: words, paths, or a value of a kind that only the person knows. */
interface Completion {
  readonly kind: 'words' | 'files' | 'directories' | Parameter['value'];
  readonly candidates: readonly Candidate[];
}

/**
 * Completes the last of a call's words.
 * @param words the words after `identity`; the last one may be empty
 */
export function complete(commands: readonly Command[], families: Families, words: readonly string[]): Completion {
  // Bash splits --data=DIR into three words.
  const given = words.slice(0, -1).filter((word) => word !== '=');
  const current = words.at(-1) === '=' ? '' : (words.at(-1) ?? '');
  const name = selectedName(commands, given);
  const command = commands.find((one) => one.name === name);
  const options = { ...command?.options, ...(command && commonOptions(command)), help: flag('print the help') };
  const others = given.slice(name === '' ? 0 : name.split(' ').length);
  const valued = optionBefore(others.at(-1), options);
  if (valued !== undefined) return completeValue(valued, current);
  const subcommands = [...nextWords(commands, families, name)].map(([word, meaning]) => ({ word, meaning }));
  const argument = command && nextArgument(command, others, options);
  if (!current.startsWith('-') && argument !== undefined) return completeValue(argument, current);
  if (!current.startsWith('-') && subcommands.length > 0) return offer(subcommands, current);
  const flags = Object.entries(options).map(([word, { meaning }]) => ({ word: `--${word}`, meaning }));
  return offer(name === '' ? [...flags, { word: '--version', meaning: 'print the version' }] : flags, current);
}

/** Returns the words that select a command, or several that begin with them, as far as they are known. */
function selectedName(commands: readonly Command[], words: readonly string[]): string {
  let name = '';
  for (const word of words) {
    const longer = `${name} ${word}`.trimStart();
    if (!commands.some((command) => `${command.name} `.startsWith(`${longer} `))) break;
    name = longer;
  }
  return name;
}

/** Returns the words that select a command after others, with their meanings. */
function nextWords(commands: readonly Command[], families: Families, name: string): Map<string, string> {
  const start = name === '' ? '' : `${name} `;
  const found = new Map<string, string>();
  for (const { name: whole, summary } of commands) {
    if (!whole.startsWith(start)) continue;
    const [word = '', ...more] = whole.slice(start.length).split(' ');
    if (!found.has(word)) found.set(word, more.length === 0 ? summary : (families[word] ?? ''));
  }
  return found;
}

/** Returns the option that a word names, if a value follows it. */
function optionBefore(word: string | undefined, options: Readonly<Record<string, Option>>): Parameter | undefined {
  const option = word?.startsWith('--') === true ? options[word.slice(2)] : undefined;
  return option?.value === undefined ? undefined : option;
}

/** Returns the argument that follows a command's words, if it takes one more. */
function nextArgument(
  command: Command,
  words: readonly string[],
  options: Readonly<Record<string, Option>>,
): Parameter | undefined {
  const values = words.filter((word, index) => !word.startsWith('-') && !optionBefore(words[index - 1], options));
  const last = command.arguments.at(-1);
  return command.arguments[values.length] ?? (last?.isRepeatable === true ? last : undefined);
}

function completeValue({ value }: Parameter, current: string): Completion {
  const { choices, paths } = valueKind(value);
  if (choices === undefined) return { kind: paths ?? value, candidates: [] };
  return offer(
    choices.map((word) => ({ word, meaning: '' })),
    current,
  );
}

function offer(candidates: readonly Candidate[], current: string): Completion {
  return { kind: 'words', candidates: candidates.filter(({ word }) => word.startsWith(current)) };
}
