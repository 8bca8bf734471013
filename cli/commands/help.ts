import { styleText } from 'node:util';
import { type Command as Commander, Help, type HelpConfiguration } from 'commander';
import { instanceOptions } from '../places/instanceLocation.ts';
import { callText } from '../terminal/callTexts.ts';
import { type Command, exitCodes, flag, type Options } from '../terminal/command.ts';
import { commandLine, DEFAULT_COLUMNS, layOut, section } from '../terminal/terminal.ts';

const bold = (text: string) => styleText('bold', text, { validateStream: false });

const jsonOption = { json: flag('print one JSON document on standard output') };

export function commonOptions({ instance }: Command): Options {
  return instance === 'none' ? {} : { ...instanceOptions, ...jsonOption };
}

export function commandUsage(command: Command): string {
  const needed = Object.entries(command.options).flatMap(([name, option]) =>
    option.value !== undefined && option.isRequired ? [`--${name} ${option.value}`] : [],
  );
  return [...argumentUsage(command), ...needed, '[OPTIONS]'].join(' ');
}

function argumentUsage(command: Command): string[] {
  return command.arguments.map(({ value, isRequired, isRepeatable }) => {
    const term = isRequired ? value : `[${value}]`;
    return isRepeatable ? `${term}...` : term;
  });
}

/**
 * Configures commander's help. An overview lists all commands on one screen. Command names are complete, options are
 * under headings, values have no brackets, and titles are bold on a terminal.
 */
export const helpFormat = (commands: readonly Command[]): HelpConfiguration => ({
  formatHelp: (command, helper) => {
    const { helpWidth: columns = DEFAULT_COLUMNS } = helper;
    if (command.parent === null) return commandOverview(commands, columns);
    const changed = {
      visibleCommands: (command: Commander) => (isRunnable(command) ? [] : [...command.commands]),
      commandDescription,
      visibleOptions: (command: Commander) => [...command.options],
      commandUsage: (command: Commander) => wrapUsage(Help.prototype.commandUsage.call(helper, command), columns),
      boxWrap: (text: string, width: number) => Help.prototype.boxWrap.call(helper, breakWords(text, width), width),
    };
    return Help.prototype.formatHelp.call(Object.assign(helper, changed), command, helper);
  },
  // Makes commander wrap descriptions on narrow terminals too.
  minWidthToWrap: 10,
  subcommandTerm: (command) =>
    [...subcommandWords(command), ...command.registeredArguments.map(argumentTerm)].join(' '),
  optionTerm: ({ flags }) => flags.replace(/[<>]/g, ''),
  styleTitle: bold,
});

export function exampleText({ examples }: Command, columns = DEFAULT_COLUMNS): string {
  const lines = examples.map((example) => commandLine(callText(example)));
  return `\n${layOut(section(lines.length === 1 ? 'Example:' : 'Examples:', lines), { columns, isColoured: true })}`;
}

/** Lists the forms of the argument PLACE, in three lines of at most 80 columns. */
const PLACE_FORMS =
  'PLACE: https://HOST (an instance or ZITADEL), FILE.json, FILE.json.gz, gs://BUCKET/PATH, - (standard input or output), or a database without a server: sqlite:DIR, firestore:PROJECT[/DATABASE]';

/** Returns the help of the whole command. It fits a screen of 80 columns and 40 lines. */
function commandOverview(commands: readonly Command[], columns: number): string {
  const codes = Object.values(exitCodes).map(({ code, meaning }) => `${code} ${meaning.split(':')[0]}`);
  const widest = Math.max(...commands.map(({ name }) => name.length));
  const lines = [
    "Usage: identity COMMAND; `identity help COMMAND` prints a command's options",
    '',
    ...commands.map(({ name, summary }) => ({ text: `${name.padEnd(widest)}  ${summary}`, depth: 1 })),
    '',
    PLACE_FORMS,
    `Exit codes: ${codes.join('; ')}`,
  ];
  return `${layOut(lines, { columns, isColoured: true })}\n`.replace(/^(?:Usage|PLACE|Exit codes):/gm, bold);
}

function isRunnable({ options }: Commander): boolean {
  return options.length > 0;
}

/**
 * Returns the description of a command. If a command has subcommands but can also run alone, the description lists the
 * subcommands.
 */
function commandDescription(command: Commander): string {
  const names = command.commands.map((below) => below.name());
  const isShort = names.length > 0 && isRunnable(command);
  return `${command.description()}${isShort ? `\nSubcommands: ${names.join(', ')}.` : ''}`;
}

const USAGE = 'Usage: ';

/** Wraps the usage line, but never between an option and its value. */
function wrapUsage(usage: string, columns: number): string {
  const whole = usage.replace(/--\S+ [A-Z]\S*/g, (part) => part.replaceAll(' ', '\u00a0'));
  return layOut([whole], { columns: columns - USAGE.length, isColoured: false }).replaceAll('\u00a0', ' ');
}

function breakWords(text: string, width: number): string {
  return text.replace(new RegExp(`\\S{${width}}(?=\\S)`, 'g'), '$& ');
}

function subcommandWords(command: Commander): string[] {
  return command.parent === null ? [] : [...subcommandWords(command.parent), command.name()];
}

function argumentTerm(argument: { readonly required: boolean; readonly variadic: boolean; name(): string }): string {
  const term = argument.required ? argument.name() : `[${argument.name()}]`;
  return argument.variadic ? `${term}...` : term;
}
