import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { type Ended, type ProgramOptions, type Running, root, run, startProgram } from '../../../tools/program.ts';

/** The variable for the script of the built command. */
export const BUILT_COMMAND = 'IDENTITY_TEST_COMMAND';

const program = process.env[BUILT_COMMAND] ?? join(root, 'cli', 'identity.ts');

/** The command line of the `identity` command: the built command, or its sources in projects that do not build it. */
export const identityProgram: readonly [command: string, script: string] = [process.execPath, program];

/** A command that has ended. */
export interface EndedCommand extends Ended {
  /**
   * The lines of the audit trail that the command printed, because its database is in the cloud. `stderr` does not
   * contain them.
   */
  readonly trail: string;
}

/**
 * The environment of a server for tests: more concurrent calls than an operator would allow, and the lowest cost of
 * passwords.
 */
export const serverSettings = { MAX_CONCURRENT_TRANSFERS: '1000', BCRYPT_COST: '10' } as const;

/** Starts the `identity` command as a process, and waits for its end. */
export async function identityProcess(args: readonly string[], options: ProgramOptions = {}): Promise<EndedCommand> {
  const [command, script] = identityProgram;
  return withoutTrail(await run(command, [script, ...args], options));
}

/** Returns the document in the output of a command. */
export function parsedOutput(args: readonly string[], { code, stdout, stderr }: EndedCommand): unknown {
  if (code !== 0) throw new Error(`identity ${args.join(' ')} ended with ${code}: ${stderr}`);
  return JSON.parse(stdout);
}

/** Separates the audit trail from the rest of standard error. */
export function withoutTrail(ended: Ended): EndedCommand {
  const lines = ended.stderr.split(/(?<=\n)/);
  const isOfTrail = (line: string) => line.startsWith('{') && line.includes('"log_type":"audit"');
  const stderr = lines.filter((line) => !isOfTrail(line)).join('');
  return { ...ended, stderr, trail: lines.filter(isOfTrail).join('') };
}

/** The functions with scripts in package.json. */
export type FunctionName = 'removeOtpEmail' | 'export' | 'import';

/** A function that runs standalone. */
export interface RunningFunction extends Running {
  readonly url: string;
}

const packageJson = z.object({ scripts: z.record(z.string(), z.string()) });

/** Starts the command of a script of package.json. Does not use npm, which handles signals differently. */
export async function startFunction(
  name: FunctionName,
  env: Readonly<Record<string, string>>,
): Promise<RunningFunction> {
  const { scripts } = packageJson.parse(JSON.parse(await readFile(join(root, 'package.json'), 'utf8')));
  const [, ...args] = scripts[`function:${name}`]?.split(' ') ?? [];
  const listening = /"url":"http:[^"]*:(\d+)"/;
  const running = await startProgram(process.execPath, args, listening, {
    env: { ...serverSettings, ...env, PORT: '0' },
  });
  return { ...running, url: `http://127.0.0.1:${running.ready[1]}` };
}
