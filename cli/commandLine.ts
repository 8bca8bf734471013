import { type Command as Commander, CommanderError } from 'commander';
import { type Surroundings, UsageError } from './command.ts';
import { type ExitStatus, exitCodes } from './exitStatus.ts';
import { createProgram, fullName, namedCommand } from './program.ts';

/**
 * Parses a command line and runs its command. Errors are printed.
 * @param words the words after `identity`
 * @returns the exit code
 */
export async function runCommandLine(words: readonly string[], surroundings: Surroundings): Promise<number> {
  return exitCodes[await runWords(words, surroundings)].code;
}

async function runWords(words: readonly string[], surroundings: Surroundings): Promise<ExitStatus> {
  const { stdout, stderr } = surroundings;
  let exitStatus: ExitStatus = 'done';
  const program = createProgram(
    async (command, given) => {
      // Help and usage errors do not wait for the modules that commands need.
      const { runCommand } = await import('./runCommand.ts');
      exitStatus = await runCommand(command, given, surroundings);
    },
    { writeOut: (text) => stdout.write(text), writeErr: (text) => stderr.write(text) },
  );
  try {
    if (words.length === 0) program.outputHelp();
    else await program.parseAsync([...words], { from: 'user' });
    return exitStatus;
  } catch (error) {
    if (!(error instanceof CommanderError)) return printFault(error, surroundings);
    if (error.exitCode === 0) return 'done';
    if (error.code === 'commander.help') return 'usage';
    const command = namedCommand(program, words);
    const mistyped = await findMistypedSubcommand(error, command, words);
    return printFault(mistyped ?? usageError(error, fullName(command)), surroundings);
  }
}

/** Explains an argument of a command that takes none, but has subcommands: commander itself only counts it. */
async function findMistypedSubcommand(
  { code }: CommanderError,
  command: Commander,
  words: readonly string[],
): Promise<UsageError | undefined> {
  const name = fullName(command);
  const word = words[name.split(' ').length - 1] ?? '';
  const isMistyped = code === 'commander.excessArguments' && command.commands.length > 0 && !word.startsWith('-');
  if (!isMistyped) return undefined;
  const { nearestName } = await import('../shared/wire/ignoredFields.ts');
  const known = command.commands.map((below) => below.name());
  const nearest = nearestName(word, known);
  const remedy = nearest === undefined ? `run ${name} --help` : `did you mean ${nearest}?`;
  return new UsageError(`unknown command '${word}': ${remedy}`);
}

async function printFault(error: unknown, { stderr, environment }: Surroundings): Promise<ExitStatus> {
  const { describeFault } = await import('./faults.ts');
  const { message, exitStatus } = describeFault(error, environment.LOG_LEVEL);
  stderr.write(`identity: ${message}\n`);
  return exitStatus;
}

/** Returns commander's error as one of ours: in one line, with the next step. */
function usageError({ message }: CommanderError, name: string): UsageError {
  const [, problem = message, suggestion] = /^error: (.*?)\.?(?:\n\(Did you mean (.*)\?\))?$/s.exec(message) ?? [];
  const line = problem.replace(/[<>]/g, '').replaceAll('\n', ' ');
  return new UsageError(`${line}: ${suggestion === undefined ? `run ${name} --help` : `did you mean ${suggestion}?`}`);
}
