import { lstat, writeFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { completeFile } from '../durableFiles.ts';
import { tokenFileForeign } from '../errors/commandErrors.ts';
import { systemCode } from '../systemCode.ts';

/**
 * Creates a token and stores it in a new file that only its owner can read, which replaces an older one of the same
 * account. The new file is opened first: a token that cannot be written is lost.
 * @throws the errors of `requireReplaceable`, before the token is created; those of `create` and of the file system
 */
export async function storeNewToken<Created extends { readonly token: string }>(
  file: string,
  create: () => Promise<Created>,
): Promise<Created> {
  await requireReplaceable(file);
  const { promise, resolve: stored } = Promise.withResolvers<Created>();
  const content = async (partial: string) => {
    const created = await create();
    await writeFile(partial, created.token);
    stored(created);
  };
  await completeFile(file, content, 'replacing');
  return promise;
}

/**
 * Checks that a token can be stored in a file, before anything is created.
 * @throws IdentityError INVALID_ARGUMENT for a link, for another account's file, for what is no file, and where the
 * directory lacks; an error of the file system
 */
export async function requireReplaceable(file: string): Promise<void> {
  const found = await lstatIfExists(file);
  if (found === undefined) {
    if ((await lstatIfExists(dirname(resolve(file)))) === undefined)
      throw tokenFileForeign(file, 'of --token-file is in a directory that does not exist');
    return;
  }
  if (found.isSymbolicLink()) throw tokenFileForeign(file, 'is a link');
  if (!found.isFile()) throw tokenFileForeign(file, 'is no file');
  // Windows has no such ids.
  if (process.getuid !== undefined && found.uid !== process.getuid())
    throw tokenFileForeign(file, 'belongs to another account');
}

async function lstatIfExists(file: string) {
  try {
    return await lstat(file);
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}
