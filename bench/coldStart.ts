import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { buildFunction } from '../build/buildFunction.ts';
import { bundleScript } from '../build/bundling.ts';
import { newInstance, startBuilt } from '../build/coldStart.ts';
import { nodeMajor, readLockFile, unbundled } from '../build/deployedPackage.ts';
import type { functions } from '../functions/endpoints.ts';
import { freePort } from '../tools/ports.ts';
import { root } from '../tools/program.ts';
import type { Figure } from './figures.ts';

/** The function that people wait for. `npm run build` prints the cold start of each. */
const FUNCTION = 'removeOtpEmail' satisfies keyof typeof functions;
const EMPTY = 'emptyFunction';
// Inside the repository, so that the started framework finds its packages.
const output = join(root, 'dist', 'bench');

/** Builds a function, and an empty one; they go away with `resources`. */
export async function buildFunctions(resources: AsyncDisposableStack): Promise<void> {
  await rm(output, { recursive: true, force: true });
  resources.defer(() => rm(output, { recursive: true, force: true }));
  const lock = await readLockFile();
  await buildFunction(FUNCTION, lock, output);
  const { contents } = await bundleScript(`bench/${EMPTY}.ts`, nodeMajor(lock), { external: [...unbundled] });
  await mkdir(join(output, EMPTY), { recursive: true });
  await writeFile(join(output, EMPTY, 'index.js'), contents);
  await writeFile(join(output, EMPTY, 'package.json'), '{"type":"commonjs","main":"index.js"}');
}

/** Measures a cold start of the function, and of the empty one. */
export async function measureColdStart(): Promise<Figure> {
  const limit = await coldStart(EMPTY);
  return { title: `cold start of ${FUNCTION}`, unit: 'ms', service: await coldStart(FUNCTION), limit };
}

/** Returns the milliseconds from the start of a function's process to its first response, to a path that it does not have. */
async function coldStart(name: string): Promise<number> {
  // The framework's own server, which the empty function has, prints the port that it was given.
  const env = { ...newInstance, FIRESTORE_EMULATOR_HOST: undefined, PORT: String(await freePort()) };
  const begin = performance.now();
  const running = await startBuilt(join(output, name), env, /(?:"url":"|URL: )(http:[^"\s]+)/);
  try {
    const { status } = await fetch(new URL('/nothing', running.ready[1]));
    if (status !== 404) throw new Error(`${name} returned ${status}`);
    return performance.now() - begin;
  } finally {
    await running.stop();
  }
}
