import { startBuilt } from './startBuilt.ts';

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
