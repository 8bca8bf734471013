import {
  Argument,
  Command as Commander,
  Option as CommanderOption,
  InvalidArgumentError,
  type OutputConfiguration,
} from 'commander';
import packageJson from '../package.json' with { type: 'json' };
import type { Command, GivenValues, Option, Options, Parameter } from './command.ts';
import { commandTables, families } from './commands.ts';
import { commandUsage, commonOptions, exampleText, exitCodeText, helpFormat } from './help.ts';
import { valueKind } from './values.ts';

/** The commit of an installed package, which its build defines. */
declare const COMMIT: string | undefined;

const version = typeof COMMIT === 'string' ? `${packageJson.version} (${COMMIT})` : packageJson.version;

/** Runs a command with the values of a call. */
export type RunCommand = (command: Command, given: GivenValues) => Promise<void>;

/** Builds the parser of all command lines from the definitions of commands. Errors are thrown; their texts are not printed. */
export function createProgram(
  run: RunCommand,
  output: Pick<OutputConfiguration, 'writeOut' | 'writeErr'> = {},
  tables = commandTables,
): Commander {
  const names = new Set(tables.flatMap(({ commands }) => commands.map(({ name }) => `identity ${name}`)));
  const program = new Commander('identity')
    .description('Set up and serve an instance, manage its accounts, and move organisations between places.')
    .usage('COMMAND')
    .version(version, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print this help, or that of a command')
    .helpCommand(false)
    .configureHelp(helpFormat((command) => names.has(fullName(command))))
    // A command and its subcommands may have options of the same name.
    .enablePositionalOptions()
    .configureOutput({ ...output, outputError: () => {} })
    .exitOverride()
    .addHelpText('after', exitCodeText());
  for (const { title, commands } of tables) {
    program.commandsGroup(`${title}:`);
    for (const command of commands) addCommand(program, command, run).helpGroup(`${title}:`);
  }
  return program;
}

/** Finds the deepest command that the words of a call name. */
export function namedCommand(program: Commander, words: readonly string[]): Commander {
  const [word, ...others] = words;
  const found = program.commands.find((command) => command.name() === word);
  return found === undefined ? program : namedCommand(found, others);
}

/** Returns all words that select a command, such as `identity pat create`. */
export function fullName(command: Commander): string {
  return command.parent === null ? command.name() : `${fullName(command.parent)} ${command.name()}`;
}

function addCommand(program: Commander, command: Command, run: RunCommand): Commander {
  const [first = '', second] = command.name.split(' ');
  const parent = second === undefined ? program : findFamily(program, first);
  const options = { ...command.options, ...commonOptions(command) };
  const added = parent
    .command(second ?? first)
    .description(command.summary)
    .usage(commandUsage(command))
    .helpCommand(false);
  for (const argument of command.arguments) added.addArgument(describeArgument(argument));
  for (const [name, option] of Object.entries(options)) added.addOption(describeOption(name, option));
  return added
    .addHelpText('after', exampleText(command))
    .action(() => run(command, { positionals: added.args, options: givenOptions(options, added.opts()) }));
}

/** Finds or adds the command that only has subcommands. */
function findFamily(program: Commander, name: string): Commander {
  const found = program.commands.find((command) => command.name() === name);
  return (
    found ??
    program
      .command(name)
      .description(families[name] ?? '')
      .usage('COMMAND')
      .helpCommand(false)
  );
}

function describeArgument({ value, meaning, isRequired, isRepeatable }: Parameter): Argument {
  const name = isRepeatable ? `${value}...` : value;
  const argument = new Argument(isRequired ? `<${name}>` : `[${name}]`, meaning);
  const { choices } = valueKind(value);
  if (choices !== undefined) argument.argChoices = [...choices];
  return argument;
}

function describeOption(name: string, option: Option): CommanderOption {
  const { value, meaning } = option;
  if (value === undefined) return new CommanderOption(`--${name}`, meaning);
  const described = new CommanderOption(`--${name} <${value}>`, meaning).argParser(collect(option.isRepeatable));
  const { choices } = valueKind(value);
  if (choices !== undefined) described.argChoices = [...choices];
  return described;
}

/** Collects the values of one option. Commander would silently take the last one. */
function collect(isRepeatable: boolean): (value: string, earlier: readonly string[] | undefined) => readonly string[] {
  return (value, earlier = []) => {
    if (!isRepeatable && earlier.length > 0) throw new InvalidArgumentError('specify the option once');
    return [...earlier, value];
  };
}

function givenOptions(options: Options, values: Readonly<Record<string, unknown>>): GivenValues['options'] {
  const given = Object.keys(options).flatMap((name) => {
    const value = values[new CommanderOption(`--${name}`).attributeName()];
    return value === undefined ? [] : [[name, Array.isArray(value) ? value.map(String) : []] as const];
  });
  return Object.fromEntries(given);
}
