import { existsSync, readFileSync, statfsSync } from 'node:fs';
import { mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { systemCode } from '../../../shared/systemCode.ts';

const MEMORY = '/dev/shm';
const PREFIX = 'identity-tests-';
/** The required free space: several times the amount that the tests write. */
const ROOM_BYTES = 4_000_000_000;

/**
 * The directory in memory of this process. Undefined if the system has no such directory with enough space that permits
 * running programs.
 */
const directory = hasRoom() ? join(MEMORY, `${PREFIX}${process.pid}`) : undefined;

/** The environment of tests with temporary directories in memory, if possible, so that they do not wait for a disk. */
export const inMemory: Readonly<Record<string, string>> = directory === undefined ? {} : { TEST_DIRECTORY: directory };

/** Creates the directory in memory. */
export default async function setup(): Promise<(() => Promise<void>) | undefined> {
  if (directory === undefined) return undefined;
  // Removes directories of killed processes.
  for (const name of await readdir(MEMORY)) if (isLeft(name)) await removed(join(MEMORY, name));
  // The setup of another project has already created it.
  if ((await mkdir(directory, { recursive: true })) === undefined) return undefined;
  return () => removed(directory);
}

function isLeft(name: string): boolean {
  if (!name.startsWith(PREFIX)) return false;
  try {
    return !process.kill(Number(name.slice(PREFIX.length)), 0);
  } catch (error) {
    return systemCode(error) === 'ESRCH';
  }
}

const removed = (path: string) => rm(path, { recursive: true, force: true });

function hasRoom(): boolean {
  const mounts = existsSync('/proc/mounts') ? readFileSync('/proc/mounts', 'utf8') : '';
  const options = new RegExp(`^\\S+ ${MEMORY} tmpfs (\\S+)`, 'm').exec(mounts)?.[1]?.split(',');
  if (options === undefined || !options.includes('rw') || options.includes('noexec')) return false;
  const { bavail, bsize } = statfsSync(MEMORY);
  return bavail * bsize > ROOM_BYTES;
}
