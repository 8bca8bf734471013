import { styleText } from 'node:util';
import { type Command as Commander, Help, type HelpConfiguration } from 'commander';
import { type Command, exitCodes, flag, type Option, type Options } from './command.ts';
import { instanceOptions } from './instanceLocation.ts';
import { layOut, section } from './terminal.ts';

const bold = (text: string) => styleText('bold', text, { validateStream: false });

/** The option of every command that prints one document. */
const jsonOption = { json: flag('print one JSON document on standard output') };

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

/** Returns an option with its value, such as `--user USER_ID`. */
function optionUsage(name: string, { value }: Option): string {
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

/** The commands under one heading of the help. */
export interface CommandTable {
  readonly title: string;
  readonly commands: readonly Command[];
}

const DEFAULT_WIDTH = 80;

/**
 * Returns how commander prints help: all commands on one screen, one command with all its words, usage wrapped, values
 * without brackets, titles in bold on a terminal.
 */
export const helpFormat = (tables: readonly CommandTable[]): HelpConfiguration => ({
  formatHelp: (command, helper) => {
    const { helpWidth: columns = DEFAULT_WIDTH } = helper;
    if (command.parent === null) return overview(tables, columns);
    const changed = {
      visibleCommands: descendants,
      commandUsage: (one: Commander) => wrapUsage(Help.prototype.commandUsage.call(helper, one), columns),
      boxWrap: (text: string, width: number) => Help.prototype.boxWrap.call(helper, breakWords(text, width), width),
    };
    return Help.prototype.formatHelp.call(Object.assign(helper, changed), command, helper);
  },
  // Narrow terminals too have wrapped meanings.
  minWidthToWrap: 10,
  subcommandTerm: (command) => [...words(command), ...command.registeredArguments.map(argumentTerm)].join(' '),
  optionTerm: ({ flags }) => flags.replace(/[<>]/g, ''),
  styleTitle: bold,
});

/** Writes a command's examples for the end of its help. */
export function exampleText({ examples }: Command): string {
  const lines = examples.map((example) => `  identity ${example}`);
  return `\n${bold(lines.length === 1 ? 'Example:' : 'Examples:')}\n${lines.join('\n')}`;
}

/** The first calls of somebody who has just installed the command. */
const firstCalls = [
  'identity init --data ./north --token-file owner.pat',
  'identity serve --data ./north',
  'identity migrate --from https://old.example.com --to https://new.example.com',
];

/** Writes the help of the whole command, which fits a screen of 80 columns and 24 lines. */
function overview(tables: readonly CommandTable[], columns: number): string {
  const codes = Object.values(exitCodes).map(({ code, meaning }) => `${code} ${meaning.split(':')[0]}`);
  const lines = [
    'Usage: identity COMMAND',
    'Serve an instance, manage its accounts, and move organisations between places.',
    ...section(
      'Start here:',
      firstCalls.map((text) => ({ text, isCommand: true })),
    ),
    ...section(
      'Commands:',
      tables.map(({ title, commands }) => `${title}: ${families(commands).join(', ')}`),
    ),
    '',
    'identity help COMMAND prints the options and examples of a command.',
    `Exit codes: ${codes.join('; ')}`,
  ];
  return `${layOut(lines, { columns, isColoured: true })}\n`;
}

/** Lists commands with a common first word together, such as `pat create|list|revoke`. */
function families(commands: readonly Command[]): string[] {
  const found = new Map<string, string[]>();
  for (const { name } of commands) {
    const [first = '', ...more] = name.split(' ');
    found.set(first, [...(found.get(first) ?? []), more.join(' ')]);
  }
  return [...found].map(([first, all]) => {
    const below = all.filter((word) => word !== '').join('|');
    if (below === '') return first;
    return all.includes('') ? `${first} [${below}]` : `${first} ${below}`;
  });
}

const USAGE = 'Usage: ';

/** Wraps a usage between its arguments and options, each of which stays whole. */
function wrapUsage(usage: string, columns: number): string {
  const whole = usage.replace(/\([^)]*\)|\[[^\]]*\]|--\S+ [A-Z]\S*/g, (part) => part.replaceAll(' ', '\u00a0'));
  return layOut([whole], { columns: columns - USAGE.length, isColoured: false }).replaceAll('\u00a0', ' ');
}

/** Breaks the words of meanings that are longer than their column. */
function breakWords(text: string, width: number): string {
  return text.replace(new RegExp(`\\S{${width}}(?=\\S)`, 'g'), '$& ');
}

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
