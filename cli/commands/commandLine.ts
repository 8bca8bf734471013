import {
  Argument,
  type Command as CommanderCommand,
  CommanderError,
  Option as CommanderOption,
  type OutputConfiguration,
} from 'commander';
import packageJson from '../../package.json' with { type: 'json' };
import { withoutTokens } from '../../shared/auth/token.ts';
import { noteProgram, withCalls } from '../terminal/callTexts.ts';
import {
  type Command,
  type ExitStatus,
  exitCodes,
  type GivenValues,
  type Option,
  type Parameter,
  type Surroundings,
  usageError,
} from '../terminal/command.ts';
import { commands, families } from './commands.ts';
import { commandUsage, commonOptions, exampleText, helpFormat } from './help.ts';
import { Commander, fullCommandName, parsingError } from './parsingErrors.ts';

/**
 * @param words the words after `identity`
 * @returns the exit code
 */
export async function runCommandLine(words: readonly string[], surroundings: Surroundings): Promise<number> {
  noteProgram(
    surroundings.environment,
    commands.map(({ name }) => name.replace(/ .*/, '')),
  );
  return exitCodes[await runWords(words, surroundings)].code;
}

async function runWords(argv: readonly string[], surroundings: Surroundings): Promise<ExitStatus> {
  const { stdout, stderr } = surroundings;
  let exitStatus: ExitStatus = 'done';
  const program = createProgram(
    async (command, values) => {
      // Import this module only when a command runs, so that help and usage errors appear quickly.
      const { runCommand } = await import('./runCommand.ts');
      exitStatus = await runCommand(command, values, surroundings);
    },
    { writeOut: (text) => stdout.write(text), writeErr: (text) => stderr.write(text) },
  );
  const words = argv[0] === 'help' ? [...argv.slice(1), '--help'] : argv;
  try {
    if (argv[0] === 'help') requireCommand(program, argv.slice(1));
    if (words.length === 0) program.outputHelp();
    else await program.parseAsync([...words], { from: 'user' });
    return exitStatus;
  } catch (error) {
    if (!(error instanceof CommanderError)) return printError(error, surroundings);
    if (error.exitCode === 0) return 'done';
    if (error.code === 'commander.help') return 'usage';
    return printError(await parsingError(error, namedCommand(program, words), words), surroundings);
  }
}

/**
 * Requires that the given words select a command, or a family of commands such as `pat`. The library commander would
 * print the help of all commands for unknown words.
 * @throws IdentityError USAGE_INVALID for unknown words
 */
function requireCommand(program: CommanderCommand, words: readonly string[]): void {
  const name = fullCommandName(namedCommand(program, words));
  if (name !== ['identity', ...words].join(' '))
    throw usageError(`unknown command '${words.join(' ')}': run ${name} --help`);
}

async function printError(error: unknown, { stderr, environment }: Surroundings): Promise<ExitStatus> {
  const { describeError, writtenText } = await import('../terminal/describeError.ts');
  const { message, exitStatus } = describeError(error, environment.LOG_LEVEL);
  stderr.write(`identity: ${withoutTokens(withCalls(message))}\n`);
  const written = writtenText(error);
  if (written !== undefined) stderr.write(`${written}\n`);
  return exitStatus;
}

/** The commit from which a package was built. Only the build of the package defines this constant. */
declare const COMMIT: string | undefined;

const version = typeof COMMIT === 'string' ? `${packageJson.version} (${COMMIT})` : packageJson.version;

type RunCommand = (command: Command, values: GivenValues) => Promise<void>;

/** Creates the parser of command lines, which throws errors without printing them. */
export function createProgram(
  run: RunCommand,
  output: Pick<OutputConfiguration, 'writeOut' | 'writeErr' | 'getOutHelpWidth'> = {},
  allCommands = commands,
): CommanderCommand {
  const program = new Commander('identity')
    .version(version, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print this help, or the help of a command')
    .helpCommand(false)
    .configureHelp(helpFormat(allCommands))
    // Permits options with the same name for a command and for its subcommands.
    .enablePositionalOptions()
    .configureOutput({ ...output, outputError: () => {} })
    .exitOverride();
  for (const command of allCommands) addCommand(program, command, run);
  return program;
}

/** Finds the most specific command that words select. */
export function namedCommand(program: CommanderCommand, words: readonly string[]): CommanderCommand {
  const [word, ...others] = words;
  const subcommand = program.commands.find((command) => command.name() === word);
  return subcommand === undefined ? program : namedCommand(subcommand, others);
}

function addCommand(program: CommanderCommand, command: Command, run: RunCommand): CommanderCommand {
  const [first = '', second] = command.name.split(' ');
  const parent = second === undefined ? program : findFamily(program, first);
  const added = parent
    .command(second ?? first)
    .summary(command.summary)
    .description([command.summary, command.details ?? []].flat().join('\n'))
    .usage(commandUsage(command))
    .helpCommand(false);
  for (const argument of command.arguments) added.addArgument(describeArgument(argument));
  for (const [name, option] of Object.entries({ ...command.options, ...commonOptions(command) }))
    added.addOption(describeOption(name, option));
  return added
    .addHelpText('after', (context) => exampleText(command, context.command.configureOutput().getOutHelpWidth?.()))
    .action(() => run(command, { positionals: added.args, options: givenOptions(added) }));
}

/** Finds or adds a command family. A family, such as `pat`, has only subcommands and cannot run by itself. */
function findFamily(program: CommanderCommand, name: string): CommanderCommand {
  const family = program.commands.find((command) => command.name() === name);
  const description = families[name] ?? '';
  return family ?? program.command(name).description(description).usage('COMMAND').helpCommand(false);
}

function describeArgument({ value, meaning, isRequired, isRepeatable }: Parameter): Argument {
  const name = isRepeatable ? `${value}...` : value;
  return new Argument(isRequired ? `<${name}>` : `[${name}]`, meaning);
}

function describeOption(name: string, option: Option): CommanderOption {
  const { value, meaning, group = 'Options' } = option;
  const described =
    value === undefined
      ? new CommanderOption(`--${name}`, meaning)
      : new CommanderOption(`--${name} <${value}>${option.isRepeatable ? '...' : ''}`, meaning).argParser(
          collectValues(name, option.isRepeatable),
        );
  return described.helpGroup(`${group}:`);
}

/**
 * Creates a parser for the values of an option. The parser rejects a second value unless the option is repeatable.
 * Without this parser, commander would silently use the last value.
 */
function collectValues(
  name: string,
  isRepeatable: boolean,
): (value: string, earlier: readonly string[] | undefined) => readonly string[] {
  return (value, earlier = []) => {
    if (!isRepeatable && earlier.length > 0) throw usageError(`--${name} is repeated: specify it once`);
    return [...earlier, value];
  };
}

function givenOptions(command: CommanderCommand): GivenValues['options'] {
  const entries = command.options.flatMap((option) => {
    const value: unknown = command.getOptionValue(option.attributeName());
    return value === undefined ? [] : [[option.name(), Array.isArray(value) ? value.map(String) : []] as const];
  });
  return Object.fromEntries(entries);
}
