import { configureLog } from '../shared/log.ts';
import type { Call, Command, GivenValues, Surroundings } from './command.ts';
import type { ExitStatus } from './exitStatus.ts';
import { type Print, printOutput } from './output.ts';
import { parseValues } from './parseValues.ts';

/**
 * Checks the values of a call, runs its command and prints the output.
 * @returns how the command ended
 */
export async function runCommand(
  command: Command,
  given: GivenValues,
  surroundings: Surroundings,
): Promise<ExitStatus> {
  configureLog('info', surroundings.stderr);
  const call: Call = { ...surroundings, ...(await parseValues(command, given)) };
  const print: Print = async (output) => {
    if (output !== undefined) await printOutput(output, given.options.json !== undefined, surroundings);
    return output?.exitStatus?.() ?? 'done';
  };
  if (command.instance === 'none') return print(await command.run(call));
  const { runOnInstance } = await import('./runOnInstance.ts');
  return runOnInstance(command, call, given, print);
}
