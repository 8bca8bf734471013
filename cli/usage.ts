import type { Command, Option } from './command.ts';
import { instanceOptions } from './instanceLocation.ts';

/** The option of every command that prints JSON. */
const jsonOption: Option = { name: 'json', meaning: 'print one JSON document on standard output' };

/** Lists the options that a command shares with others. */
export function commonOptions({ instance }: Command): readonly Option[] {
  return instance === 'none' ? [] : [...instanceOptions, jsonOption];
}

/** Returns what follows a command's name in a call. */
export function commandUsage(command: Command): string {
  const { instance, options } = command;
  const location = instanceOptions.map(optionUsage).join(' | ');
  const common = instance === 'none' ? [] : [`(${location})`, `[${optionUsage(jsonOption)}]`];
  const parts = [argumentUsage(command), ...options.map(quantifiedUsage), ...common];
  return parts.filter((part) => part !== '').join(' ');
}

/** Returns a command's name with its arguments. */
export function commandTerm(command: Command): string {
  return `${command.name} ${argumentUsage(command)}`.trim();
}

/** Returns an option with its value, such as `--user USER_ID`. */
export function optionUsage({ name, value }: Option): string {
  return value === undefined ? `--${name}` : `--${name} ${value}`;
}

function quantifiedUsage(option: Option): string {
  const usage = option.isRequired === true ? optionUsage(option) : `[${optionUsage(option)}]`;
  return option.isRepeatable === true ? `${usage}...` : usage;
}

function argumentUsage(command: Command): string {
  const terms = command.arguments.map(({ value, isOptional, isRepeatable }) => {
    const term = isOptional === true ? `[${value}]` : value;
    return isRepeatable === true ? `${term}...` : term;
  });
  return terms.join(' ');
}
