import { Command as CommanderCommand, type CommanderError } from 'commander';
import type { IdentityError } from '../../shared/errors/identityError.ts';
import { usageError } from '../terminal/command.ts';

/**
 * A command of the library commander. Unlike the library's class, it stores the first unknown option of a command line.
 */
export class Commander extends CommanderCommand {
  unknownFlag = '';

  override createCommand(name?: string): Commander {
    return new Commander(name);
  }

  override parseOptions(words: string[]): ReturnType<CommanderCommand['parseOptions']> {
    const parsed = super.parseOptions(words);
    // Omits the text after `=`, because the user may have entered a secret there.
    this.unknownFlag = parsed.unknown[0]?.split('=')[0] ?? '';
    return parsed;
  }
}

interface Problem {
  readonly text: string;
  readonly nearest?: string | undefined;
}

export async function parsingError(
  error: CommanderError,
  command: CommanderCommand,
  words: readonly string[],
): Promise<IdentityError> {
  const { text, nearest } = await describeProblem(error, command, words);
  return usageError(
    `${text}: ${nearest === undefined ? `run ${fullCommandName(command)} --help` : `did you mean ${nearest}?`}`,
  );
}

async function describeProblem(
  { code, message }: CommanderError,
  command: CommanderCommand,
  words: readonly string[],
): Promise<Problem> {
  const { args, commands, options, registeredArguments } = command;
  const [first = ''] = args;
  // Commander reports an unknown subcommand as an excess argument if the command with the subcommands has arguments or
  // options of its own.
  if (code === 'commander.unknownCommand' || (code === 'commander.excessArguments' && commands.length > 0))
    return {
      text: `unknown command '${first}'`,
      nearest: await nearestOf(
        first,
        commands.map((below) => below.name()),
      ),
    };
  switch (code) {
    case 'commander.unknownOption': {
      const flag = command instanceof Commander ? command.unknownFlag : '';
      return {
        text: `unknown option '${flag}'`,
        nearest: await nearestOf(
          flag,
          options.map(({ long }) => long ?? ''),
        ),
      };
    }
    case 'commander.optionMissingArgument': {
      const flags = options.find(({ long }) => long === words.at(-1))?.flags ?? '';
      return { text: `option '${flags.replace(/[<>]|\.\.\./g, '')}' argument missing` };
    }
    case 'commander.missingArgument':
      return { text: `missing required argument '${registeredArguments[args.length]?.name()}'` };
    case 'commander.excessArguments':
      return {
        text: `too many arguments: expected ${registeredArguments.length}, but got ${args.length}: ${args.join(', ')}`,
      };
    default:
      return { text: message };
  }
}

async function nearestOf(name: string, knownNames: readonly string[]): Promise<string | undefined> {
  const { nearestName } = await import('../../shared/nearestName.ts');
  return nearestName(name, knownNames);
}

/** Returns a command's full name, such as `identity pat create`. */
export function fullCommandName(command: CommanderCommand): string {
  return command.parent === null ? command.name() : `${fullCommandName(command.parent)} ${command.name()}`;
}
