import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { type Running, root, startProgram } from './program.ts';

/** The functions that package.json has scripts for. */
export type FunctionName = 'removeOtpEmail' | 'export' | 'import';

/** A function that runs by itself. */
export interface RunningFunction extends Running {
  readonly url: string;
}

const packageJson = z.object({ scripts: z.record(z.string(), z.string()) });

/** Starts what the script of package.json starts, without npm between, which answers signals in its own way. */
export async function startFunction(
  name: FunctionName,
  env: Readonly<Record<string, string>>,
): Promise<RunningFunction> {
  const { scripts } = packageJson.parse(JSON.parse(await readFile(join(root, 'package.json'), 'utf8')));
  const [, ...args] = scripts[`function:${name}`]?.split(' ') ?? [];
  const listening = /"url":"http:[^"]*:(\d+)"/;
  const running = await startProgram(process.execPath, args, listening, { env: { ...env, PORT: '0' } });
  return { ...running, url: `http://127.0.0.1:${running.ready[1]}` };
}
