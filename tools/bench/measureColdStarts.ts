import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { functions } from '../../functions/endpoints.ts';
import { buildFunction } from '../build/buildFunction.ts';
import { bundleScript } from '../build/bundling.ts';
import { newInstance, startBuilt } from '../build/coldStart.ts';
import { COMPILER, nodeMajor, readLockFile, unbundled } from '../build/deployedPackage.ts';
import { freePort } from '../freePort.ts';
import { root, run } from '../program.ts';
import { type Figure, median } from './figures.ts';

const EMPTY = 'emptyFunction';
const STARTS = 3;
// The directory must be inside the repository, where the framework finds its packages.
const output = join(root, 'dist', 'bench');
const names = Object.keys(functions);

/**
 * Builds the functions, and for comparison, a function that only responds with a status. Disposing of `resources`
 * deletes the builds.
 */
export async function buildFunctions(resources: AsyncDisposableStack): Promise<void> {
  await rm(output, { recursive: true, force: true });
  resources.defer(() => rm(output, { recursive: true, force: true }));
  const lock = await readLockFile();
  for (const name of names) {
    const { directory } = await buildFunction(name, lock, output);
    // Compile the function as Google's build does.
    await run(process.execPath, [COMPILER], { cwd: directory, env: { FUNCTION_TARGET: name } });
  }
  const { contents } = await bundleScript(`tools/bench/${EMPTY}.ts`, nodeMajor(lock), { external: [...unbundled] });
  await mkdir(join(output, EMPTY), { recursive: true });
  await writeFile(join(output, EMPTY, 'index.js'), contents);
  await writeFile(join(output, EMPTY, 'package.json'), '{"type":"commonjs","main":"index.js"}');
  // Start the empty function once, so that Node stores its compiled code. COMPILER cannot do this for the empty
  // function, because it waits for a line that only our functions print.
  await startOnce(EMPTY);
}

/**
 * Measures the functions and the empty function in turn, so that other load on the machine affects all of them equally.
 */
export async function measureColdStarts(): Promise<Figure[]> {
  const starts: Start[] = [];
  for (let round = 0; round < STARTS; round++) for (const name of [EMPTY, ...names]) starts.push(await startOnce(name));
  const of = (name: string, key: 'elapsed' | 'processor') =>
    median(starts.flatMap((start) => (start.name === name ? start[key] : [])));
  const figure = (title: string, name: string, key: 'elapsed' | 'processor'): Figure => {
    return { title: `${title} of ${name}`, unit: 'ms', service: of(name, key), limit: of(EMPTY, key) };
  };
  return names.flatMap((name) => [
    figure('cold start', name, 'elapsed'),
    figure('processor time of a cold start', name, 'processor'),
  ]);
}

/** The times are in milliseconds. `processor` is the processor time of all threads. */
interface Start {
  readonly name: string;
  readonly elapsed: number;
  readonly processor: number;
}

async function startOnce(name: string): Promise<Start> {
  // Select a free port here: the empty function uses the framework's own server, which would print `0` for the port 0.
  const env = {
    ...newInstance,
    FIRESTORE_EMULATOR_HOST: undefined,
    NODE_COMPILE_CACHE: '.compile-cache',
    PORT: String(await freePort()),
  };
  const begin = performance.now();
  const running = await startBuilt(join(output, name), env, /(?:"url":"|URL: )(http:[^"\s]+)/);
  try {
    const { status } = await fetch(new URL('/nothing', running.ready[1]));
    if (status !== 404) throw new Error(`${name} returned ${status}`);
    return { name, elapsed: performance.now() - begin, processor: await processorTime(running.pid) };
  } finally {
    await running.stop();
  }
}

/** The milliseconds of a clock tick in /proc. */
const TICK_MS = 10;

async function processorTime(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
  // Skip the second field, the name of the command in parentheses, because it may contain spaces.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [user, system] = [fields[11], fields[12]].map(Number);
  return ((user ?? 0) + (system ?? 0)) * TICK_MS;
}
