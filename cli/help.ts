import { styleText } from 'node:util';
import { type Command as Commander, Help, type HelpConfiguration } from 'commander';
import { type Command, exitCodes, flag, type Option, type Options } from './command.ts';
import { instanceOptions } from './instanceLocation.ts';

const bold = (text: string) => styleText('bold', text, { validateStream: false });

/** The option of every command that prints one document. */
export const jsonOption = { json: flag('print one JSON document on standard output') };

/** Returns the options that a command shares with all others on an instance. */
export function commonOptions({ instance }: Command): Options {
  return instance === 'none' ? {} : { ...instanceOptions, ...jsonOption };
}

/** Returns what follows a command's name in a call. */
export function commandUsage(command: Command): string {
  const location = Object.entries(instanceOptions).map(([name, option]) => optionUsage(name, option));
  const common = command.instance === 'none' ? [] : [`(${location.join(' | ')})`, '[--json]'];
  const own = Object.entries(command.options).map(([name, option]) => quantifiedUsage(name, option));
  return [...argumentUsage(command), ...own, ...common].join(' ');
}

/** Returns a command's name with its arguments. */
export function commandTerm(command: Command): string {
  return [command.name, ...argumentUsage(command)].join(' ');
}

/** Returns an option with its value, such as `--user USER_ID`. */
export function optionUsage(name: string, { value }: Option): string {
  return value === undefined ? `--${name}` : `--${name} ${value}`;
}

function quantifiedUsage(name: string, option: Option): string {
  const usage = optionUsage(name, option);
  if (option.value === undefined || !option.isRequired)
    return option.value !== undefined && option.isRepeatable ? `[${usage}]...` : `[${usage}]`;
  return usage;
}

function argumentUsage(command: Command): string[] {
  return command.arguments.map(({ value, isRequired, isRepeatable }) => {
    const term = isRequired ? value : `[${value}]`;
    return isRepeatable ? `${term}...` : term;
  });
}

/**
 * Returns how commander prints help: commands with all their words, values without brackets, titles in bold on a terminal.
 * @param canRun whether a command can be called, and has not only subcommands
 */
export const helpFormat = (canRun: (command: Commander) => boolean): HelpConfiguration => ({
  formatHelp: (command, helper) => {
    const visibleCommands = (parent: Commander) => descendants(parent).filter(canRun);
    return Help.prototype.formatHelp.call(Object.assign(helper, { visibleCommands }), command, helper);
  },
  subcommandTerm: (command) => [...words(command), ...command.registeredArguments.map(argumentTerm)].join(' '),
  optionTerm: ({ flags }) => flags.replace(/[<>]/g, ''),
  styleTitle: bold,
});

/** Writes a command's examples for the end of its help. */
export function exampleText({ examples }: Command): string {
  const lines = examples.map((example) => `  identity ${example}`);
  return `\n${bold(lines.length === 1 ? 'Example:' : 'Examples:')}\n${lines.join('\n')}`;
}

/** Writes the exit codes for the end of the help. */
export function exitCodeText(): string {
  const lines = Object.values(exitCodes).map(({ code, meaning }) => `  ${String(code).padEnd(4)} ${meaning}`);
  return `\n${bold('Exit codes:')}\n${lines.join('\n')}`;
}

/** Lists the commands below one, at any depth. */
function descendants({ commands }: Commander): Commander[] {
  return commands.flatMap((command) => [command, ...descendants(command)]);
}

/** Returns the words that select a command, without that of the program. */
function words(command: Commander): string[] {
  return command.parent === null ? [] : [...words(command.parent), command.name()];
}

function argumentTerm(argument: { readonly required: boolean; readonly variadic: boolean; name(): string }): string {
  const term = argument.required ? argument.name() : `[${argument.name()}]`;
  return argument.variadic ? `${term}...` : term;
}
