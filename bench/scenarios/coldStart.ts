import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { buildFunction } from '../../build/buildFunction.ts';
import { bundleScript } from '../../build/bundling.ts';
import { newInstance, startBuilt } from '../../build/coldStart.ts';
import { type LockFile, nodeMajor, readLockFile, unbundled } from '../../build/deployedPackage.ts';
import { functions } from '../../functions/endpoints.ts';
import { freePort } from '../../tools/ports.ts';
import { type Running, root } from '../../tools/program.ts';
import type { Figures, Scenario } from '../measure.ts';

/** The kernel counts processors' time in ticks of a hundredth of a second. */
const TICK_MS = 10;
const EMPTY = 'emptyFunction';
// Inside the repository, so that the started framework finds its packages.
const output = join(root, 'dist', 'bench');
const environment = { ...newInstance, FIRESTORE_EMULATOR_HOST: undefined };

/** Starts each built function and an empty one, and sends them a request. */
export const coldStart: Scenario = {
  // A start takes under a second.
  rounds: 5,
  prepare: async (bench) => {
    if (process.platform !== 'linux') return { missing: 'the time of a process is read from /proc, which Linux has' };
    await rm(output, { recursive: true, force: true });
    bench.resources.defer(() => rm(output, { recursive: true }));
    const lock = await readLockFile();
    const names = Object.keys(functions);
    for (const name of names) await buildFunction(name, lock, output);
    await buildEmpty(lock);
    return () => measureStarts(names);
  },
};

async function measureStarts(names: readonly string[]): Promise<Figures> {
  const empty = await timeOfStart(EMPTY);
  const figures: Record<string, number> = { empty };
  for (const name of names) {
    const time = await timeOfStart(name);
    figures[name] = time;
    figures[`${name}Ratio`] = time / empty;
  }
  return figures;
}

async function buildEmpty(lock: LockFile): Promise<void> {
  const { contents } = await bundleScript('bench/scenarios/emptyFunction.ts', nodeMajor(lock), {
    external: [...unbundled],
  });
  const directory = join(output, EMPTY);
  await mkdir(directory, { recursive: true });
  await writeFile(join(directory, 'index.js'), contents);
  await writeFile(join(directory, 'package.json'), '{"type":"commonjs","main":"index.js"}');
}

/** Returns the milliseconds of all processors' time from a function's start to its first response. */
async function timeOfStart(name: string): Promise<number> {
  const running = await (name === EMPTY ? startEmpty() : startBuilt(join(output, name), environment));
  try {
    const { status } = await fetch(`${running.ready[1]}/`);
    if (status !== (name === EMPTY ? 200 : 404)) throw new Error(`${name} returned ${status}`);
    return await processorTime(running.pid);
  } finally {
    await running.stop();
  }
}

// The framework's own server prints the port that it was given.
async function startEmpty(): Promise<Running> {
  const env = { ...environment, PORT: String(await freePort()) };
  return startBuilt(join(output, EMPTY), env, /URL: (http:\S+:\d+)/);
}

async function processorTime(pid: number): Promise<number> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8');
  // The name of the program, in brackets, may contain spaces.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const [user = 0, system = 0] = fields.slice(11, 13).map(Number);
  return (user + system) * TICK_MS;
}
