// Programs that tests download from a package registry, once on each machine.

import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { run } from '../../../tools/program.ts';

/** A released version of a program. */
export interface CachedProgram {
  readonly name: string;
  readonly version: string;
}

/** A program that is built with Go. */
export interface GoProgram extends CachedProgram {
  /** The Go package of the program. */
  readonly package: string;
}

const caches = process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache');

/** Returns the path of a program, which may not exist yet. */
export function cachedPath({ name, version }: CachedProgram): string {
  return join(caches, 'identity-tests', `${name}-${version}`, name);
}

/**
 * Returns the path of a program, and creates the program if it does not exist.
 * @param make writes the program into a directory. No later call uses what an interrupted call leaves behind.
 */
export async function cacheProgram(
  program: CachedProgram,
  make: (directory: string) => Promise<void>,
): Promise<string> {
  const path = cachedPath(program);
  if (existsSync(path)) return path;
  await mkdir(dirname(path), { recursive: true });
  const directory = await mkdtemp(join(dirname(path), 'new-'));
  try {
    await make(directory);
    await rename(join(directory, program.name), path);
  } finally {
    await rm(directory, { recursive: true });
  }
  return path;
}

/** Returns the path of a program. Builds it with Go if it does not exist, which takes minutes. */
export function buildGoProgram(program: GoProgram): Promise<string> {
  return cacheProgram(program, async (directory) => {
    await succeed('go', ['install', `${program.package}@${program.version}`], { GOBIN: directory });
  });
}

/** Whether Go is installed. */
export async function hasGo(): Promise<boolean> {
  return await run('go', ['version']).then(
    ({ code }) => code === 0,
    () => false,
  );
}

/**
 * Runs a program to its end.
 * @throws Error with its output, if it fails
 */
export async function succeed(command: string, args: readonly string[], env: Record<string, string>): Promise<string> {
  const { code, stdout, stderr } = await run(command, args, { env });
  if (code !== 0) throw new Error(`${command} ${args.join(' ')} ends with ${code}: ${stderr || stdout}`);
  return stdout;
}
