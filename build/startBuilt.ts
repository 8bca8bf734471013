import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { type Running, startProgram } from '../test/support/program.ts';

/**
 * Starts a function that was built, as Cloud Functions does: the framework that is installed beside it, in its directory,
 * with FUNCTION_TARGET. `ready[1]` is its base URL.
 * @throws Error with all that it wrote, when it does not start
 */
export function startBuilt(directory: string, env: Readonly<Record<string, string | undefined>>): Promise<Running> {
  const { resolve } = createRequire(join(directory, 'index.js'));
  const framework = join(dirname(resolve('@google-cloud/functions-framework')), 'main.js');
  return startProgram(process.execPath, [framework], /"url":"(http:[^"]+)"/, {
    cwd: directory,
    env: { FUNCTION_TARGET: basename(directory), PORT: '0', ...env },
  });
}
