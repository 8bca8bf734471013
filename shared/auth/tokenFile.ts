import { existsSync, lstatSync } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { completeFile } from '../durableFiles.ts';
import { tokenFileUnusable } from '../errors/commandErrors.ts';

/**
 * Creates a token and stores it in a new file that only the file's owner can read. Opens the file before it calls
 * `create`. If the file cannot be opened, no token is created.
 * @throws the errors of `requireNewFile`, before the token is created; the errors of `create`; Error if the file system
 * refuses to write the file
 */
export async function storeNewToken<Created extends { readonly token: string }>(
  file: string,
  create: () => Promise<Created>,
): Promise<Created> {
  requireNewFile(file);
  const { promise, resolve: stored } = Promise.withResolvers<Created>();
  const content = async (partial: FileHandle) => {
    const created = await create();
    await partial.writeFile(created.token);
    stored(created);
  };
  await completeFile(file, content);
  return promise;
}

/**
 * Requires that a token can be stored in this file. Call this function before the token is created.
 * @throws IdentityError INVALID_ARGUMENT if something has this path, even a broken link, or if the directory does not
 * exist
 */
export function requireNewFile(file: string): void {
  if (lstatSync(file, { throwIfNoEntry: false }) !== undefined) throw tokenFileUnusable({ file, problem: 'exists' });
  if (!existsSync(dirname(resolve(file))))
    throw tokenFileUnusable({ file, problem: 'is in a directory that does not exist' });
}
