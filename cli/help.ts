import { styleText } from 'node:util';
import { type Command as Commander, Help, type HelpConfiguration } from 'commander';
import type { Command } from './command.ts';
import { exitCodes } from './exitCodes.ts';

const bold = (text: string) => styleText('bold', text, { validateStream: false });

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
