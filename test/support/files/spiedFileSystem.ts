import { vi } from 'vitest';

// Vitest's option `spy: true` would change the modules and the prototypes of streams themselves. The files of a worker
// share these, so a stream of a later file could wait forever.

/** Returns `node:fs` with spies for the functions that `watchDurability` watches. */
export function spiedFs(original: typeof import('node:fs')) {
  const { openSync, fsyncSync, renameSync } = original;
  return { ...original, openSync: vi.fn(openSync), fsyncSync: vi.fn(fsyncSync), renameSync: vi.fn(renameSync) };
}

/** Returns `node:fs/promises` with spies for the functions that tests watch or let fail. */
export function spiedFsPromises(original: typeof import('node:fs/promises')) {
  const { link, mkdtemp, rename } = original;
  return { ...original, link: vi.fn(link), mkdtemp: vi.fn(mkdtemp), rename: vi.fn(rename) };
}
