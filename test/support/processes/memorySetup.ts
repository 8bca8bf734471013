import { readFileSync, statfsSync } from 'node:fs';
import { mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';

const MEMORY = '/dev/shm';
const PREFIX = 'identity-tests-';
/** Several times what the tests write. */
const ROOM_BYTES = 4_000_000_000;

/** The directory in memory of this process; undefined if the system has none with room, whose programs it runs. */
const directory = hasRoom() ? join(MEMORY, `${PREFIX}${process.pid}`) : undefined;

/** The environment of tests whose temporary directories are in memory where possible: they wait for no disk. */
export const inMemory: Readonly<Record<string, string>> = directory === undefined ? {} : { TEST_DIRECTORY: directory };

/** Makes the directory in memory. */
export default async function setup(): Promise<(() => Promise<void>) | undefined> {
  if (directory === undefined) return undefined;
  // Left by processes that were killed.
  for (const name of await readdir(MEMORY)) if (isLeft(name)) await removed(join(MEMORY, name));
  // The setup of another project has made it.
  if ((await mkdir(directory, { recursive: true })) === undefined) return undefined;
  return () => removed(directory);
}

function isLeft(name: string): boolean {
  if (!name.startsWith(PREFIX)) return false;
  try {
    return !process.kill(Number(name.slice(PREFIX.length)), 0);
  } catch {
    return true;
  }
}

const removed = (path: string) => rm(path, { recursive: true, force: true });

function hasRoom(): boolean {
  try {
    const [, options = ''] =
      new RegExp(`^\\S+ ${MEMORY} tmpfs (\\S+)`, 'm').exec(readFileSync('/proc/mounts', 'utf8')) ?? [];
    const { bavail, bsize } = statfsSync(MEMORY);
    return options.startsWith('rw') && !options.split(',').includes('noexec') && bavail * bsize > ROOM_BYTES;
  } catch {
    return false;
  }
}
