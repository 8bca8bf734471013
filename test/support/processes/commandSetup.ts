import { hash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { buildPackage } from '../../../tools/build/buildPackage.ts';
import { readLockFile } from '../../../tools/build/deployedPackage.ts';
import { root } from '../../../tools/program.ts';
import { BUILT_COMMAND } from './programs.ts';

const cache = join(root, 'node_modules', '.cache');
const script = join('cli', 'identity.js');

/**
 * Builds the installable command. Tests start it as a process, because it starts in half of the time of its sources.
 */
export default async function setup(): Promise<void> {
  // The setup of another project has already built it.
  if (process.env[BUILT_COMMAND] !== undefined) return;
  const built = join(cache, `identity-command-${process.pid}`);
  await buildPackage(await readLockFile(), built);
  // Node caches compiled modules by path, so the directory remains after the tests. The names of its files depend on
  // their contents.
  const directory = join(cache, `identity-command-${hash('sha256', await readFile(join(built, script)))}`);
  await rename(built, directory).catch(async (error: unknown) => {
    // An earlier or concurrent run may already have built it.
    if (!existsSync(join(directory, script))) throw error;
    await rm(built, { recursive: true });
  });
  process.env[BUILT_COMMAND] = join(directory, script);
}
