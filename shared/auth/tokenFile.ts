import { lstat, writeFile } from 'node:fs/promises';
import { completeFile } from '../durableFiles.ts';
import { tokenFileForeign } from '../errors/commandErrors.ts';
import { systemCode } from '../systemCode.ts';

/**
 * Creates a token and stores it in a new file that only its owner can read, which replaces an older one of the same
 * account. The new file is opened first: a token that cannot be written is lost.
 * @throws IdentityError INVALID_ARGUMENT, before the token is created, for a link, for another account's file, and for
 * what is no file; the errors of `create` and of the file system
 */
export async function storeNewToken<Created extends { readonly token: string }>(
  file: string,
  create: () => Promise<Created>,
): Promise<Created> {
  await requireReplaceable(file);
  const { promise, resolve } = Promise.withResolvers<Created>();
  const content = async (partial: string) => {
    const created = await create();
    await writeFile(partial, created.token);
    resolve(created);
  };
  await completeFile(file, content, 'replacing');
  return promise;
}

async function requireReplaceable(file: string): Promise<void> {
  const found = await lstatIfExists(file);
  if (found === undefined) return;
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
