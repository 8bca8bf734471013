import { readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { buildPackage } from '../../../build/buildPackage.ts';
import { readLockFile } from '../../../build/deployedPackage.ts';
import { root } from '../../../tools/program.ts';
import { BUILT_COMMAND } from './programs.ts';

/** Stays after the tests: Node caches compiled modules by their paths. */
const directory = join(root, 'node_modules', '.cache', 'identity-command');
const script = join('cli', 'identity.js');

/** Builds the installable command, which tests start as a process: it starts in half of the time of its sources. */
export default async function setup(): Promise<void> {
  // The setup of another project has built it.
  if (process.env[BUILT_COMMAND] !== undefined) return;
  const built = `${directory}-${process.pid}`;
  await buildPackage(await readLockFile(), built);
  // Its parts have names by their contents. Another run may be using the same command, which then stays.
  if ((await contentOf(built)) === (await contentOf(directory))) {
    await rm(built, { recursive: true });
  } else {
    await rm(directory, { recursive: true, force: true });
    await rename(built, directory);
  }
  process.env[BUILT_COMMAND] = join(directory, script);
}

function contentOf(builtIn: string): Promise<string | undefined> {
  return readFile(join(builtIn, script), 'utf8').catch(() => undefined);
}
