import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { temporaryKeyring } from '../../shared/store/secrets/keyring.ts';
import { type Running, startProgram } from '../program.ts';

const STARTS = 5;

/** The environment of a function's new process, without the settings of this shell and without a compile cache. */
export const newInstance = {
  FIRESTORE_PROJECT: 'cold-start',
  IDENTITY_MASTER_KEY: temporaryKeyring().newest().text,
  DATA_DIR: undefined,
  NODE_COMPILE_CACHE: undefined,
};

/**
 * Measures the milliseconds from the start of a function's process to its first response, as the median of five starts.
 * The request has an unknown path, so that the function loads the database's client but reads nothing.
 * @throws Error if the process does not start, or another program responds
 */
export async function coldStart(directory: string): Promise<number> {
  const times: number[] = [];
  while (times.length < STARTS) times.push(await startOnce(directory));
  return times.sort((a, b) => a - b)[Math.floor(STARTS / 2)] ?? 0;
}

async function startOnce(directory: string): Promise<number> {
  const begin = performance.now();
  const running = await startBuilt(directory, newInstance);
  try {
    const { status, headers } = await fetch(`${running.ready[1]}/unknown`);
    const time = performance.now() - begin;
    if (status === 404 && headers.get('content-type') === 'application/json') return time;
    throw new Error(`${directory} returned ${status}, not the function's own 404`);
  } finally {
    await running.stop();
  }
}

/**
 * Starts a built function as Cloud Functions does: in its directory, with FUNCTION_TARGET, and with the framework
 * installed there. In the result, `ready[1]` is the base URL.
 * @param ready matches the line that the function prints when it listens
 * @throws Error with the process's output, if the process does not start
 */
export function startBuilt(
  directory: string,
  env: Readonly<Record<string, string | undefined>>,
  ready = /"url":"(http:[^"]+)"/,
): Promise<Running> {
  const { resolve } = createRequire(join(directory, 'index.js'));
  const framework = join(dirname(resolve('@google-cloud/functions-framework')), 'main.js');
  return startProgram(process.execPath, [framework], ready, {
    cwd: directory,
    env: { FUNCTION_TARGET: basename(directory), PORT: '0', ...env },
  });
}
