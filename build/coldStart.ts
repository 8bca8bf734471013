import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { type Running, startProgram } from '../tools/program.ts';

const STARTS = 5;

// Nothing that the shell of this machine's user has set, and nothing compiled earlier: a new instance has neither.
const environment = { FIRESTORE_PROJECT: 'cold-start', DATA_DIR: undefined, NODE_COMPILE_CACHE: undefined };

/**
 * Milliseconds from the start of a function's process to its first answer, the median of five. It answers a route that it
 * does not have, after its database's client is loaded; nothing is read from a database.
 * @throws Error when it does not start, or somebody else answers
 */
export async function coldStart(directory: string): Promise<number> {
  const times: number[] = [];
  while (times.length < STARTS) times.push(await startOnce(directory));
  return times.sort((a, b) => a - b)[Math.floor(STARTS / 2)] ?? 0;
}

async function startOnce(directory: string): Promise<number> {
  const begin = performance.now();
  const running = await startBuilt(directory, environment);
  try {
    const { status, headers } = await fetch(`${running.ready[1]}/`);
    const time = performance.now() - begin;
    if (status === 404 && headers.get('content-type') === 'application/json') return time;
    throw new Error(`${directory} answered with ${status}, not as the function shell does`);
  } finally {
    await running.stop();
  }
}

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
