import { join } from 'node:path';
import { type Ended, type ProgramOptions, root, run } from './program.ts';

const program = join(root, 'cli', 'identity.ts');

/** How the `identity` command is started. */
export const identityProgram: readonly [command: string, script: string] = [process.execPath, program];

/** Runs the `identity` command to its end. */
export function identity(args: readonly string[], options: ProgramOptions = {}): Promise<Ended> {
  const [command, script] = identityProgram;
  return run(command, [script, ...args], options);
}

/** Runs it with `--json`, and returns the one document that it printed. */
export async function identityJson(args: readonly string[], options: ProgramOptions = {}): Promise<unknown> {
  const { code, stdout, stderr } = await identity([...args, '--json'], options);
  if (code !== 0) throw new Error(`identity ${args.join(' ')} ended with ${code}: ${stderr}`);
  return JSON.parse(stdout);
}
