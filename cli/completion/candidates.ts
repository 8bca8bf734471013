import type { Command as Commander, Option } from 'commander';
import { type ValueKind, valueKinds } from '../values.ts';

/** What completion offers for one value: choices, names of the file system, or nothing but the value's name. */
interface OfferedValue {
  readonly name: string;
  readonly choices: readonly string[];
  readonly paths?: 'files' | 'directories';
}

/** An option of a command. */
export interface OfferedOption {
  /** With its dashes. */
  readonly long: string;
  readonly short?: string;
  readonly meaning: string;
  /** Absent for an option without a value. */
  readonly value?: OfferedValue;
}

/** What completion offers after the words that select a command. */
export interface Candidates {
  /** All words of the command, such as `identity pat create`. */
  readonly command: string;
  readonly subcommands: readonly { readonly name: string; readonly meaning: string }[];
  readonly options: readonly OfferedOption[];
  readonly arguments: readonly OfferedValue[];
}

/** Lists what completion offers after a command, and after each command below it, from commander's table. */
export function candidates(command: Commander, before: readonly string[] = []): readonly Candidates[] {
  const words = [...before, command.name()];
  const own: Candidates = {
    command: words.join(' '),
    subcommands: command.commands.map((below) => ({ name: below.name(), meaning: below.description() })),
    options: command.createHelp().visibleOptions(command).map(offeredOption),
    arguments: command.registeredArguments.map((argument) => offeredValue(argument.name(), argument.argChoices)),
  };
  return [own, ...command.commands.flatMap((below) => candidates(below, words))];
}

function offeredOption({ long, short, flags, description, argChoices }: Option): OfferedOption {
  const [, value] = /<(.+)>/.exec(flags) ?? [];
  return {
    long: long ?? flags,
    ...(short === undefined ? {} : { short }),
    meaning: description,
    ...(value === undefined ? {} : { value: offeredValue(value, argChoices) }),
  };
}

function offeredValue(name: string, choices: readonly string[] = []): OfferedValue {
  const kinds: Readonly<Record<string, ValueKind>> = valueKinds;
  const { paths } = kinds[name] ?? {};
  return { name, choices, ...(paths === undefined ? {} : { paths }) };
}
