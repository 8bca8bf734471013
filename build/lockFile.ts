import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { root } from '../test/support/program.ts';

const lockFile = z.object({
  name: z.string(),
  version: z.string(),
  lockfileVersion: z.literal(3),
  packages: z.record(z.string(), z.looseObject({ version: z.string() })),
});

/**
 * What `package-lock.json` says: packages with their exact versions and hashes, by the place where npm puts them, such as
 * `node_modules/a/node_modules/b`.
 */
export type LockFile = Readonly<z.infer<typeof lockFile>>;

/** Reads the repository's `package-lock.json`. */
export async function readLockFile(): Promise<LockFile> {
  return lockFile.parse(JSON.parse(await readFile(join(root, 'package-lock.json'), 'utf8')));
}

/** The exact version of a package that the repository itself depends on. */
export function lockedVersion({ packages }: LockFile, name: string): string {
  const found = packages[`node_modules/${name}`];
  if (found === undefined) throw new Error(`package-lock.json has no ${name}`);
  return found.version;
}
