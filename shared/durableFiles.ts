// Files that appear under their names only when they are complete and durable.

import { randomUUID } from 'node:crypto';
import { closeSync, fsyncSync, mkdirSync, openSync } from 'node:fs';
import { type FileHandle, link, lstat, open, rename, rm } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';

/** The mode of files with secrets or personal data. */
export const OWNER_ONLY = 0o600;

/** A file's content, or a function that fills the empty file: by its handle, which cannot be replaced, or by its path. */
type NewFileContent = string | Uint8Array | ((file: FileHandle, path: string) => Promise<void>);

/**
 * Writes a file that only its owner can read. It appears under its name when it is complete and durable; after a crash,
 * the previous file is still there.
 * @param appearance whether the file must be new, or may replace an existing file
 * @param partial the name under which it is written
 * @throws Error of the file system, EEXIST where a new file's name is taken, EPERM where others have replaced it; the errors
 * of `content`
 */
export async function completeFile(
  target: string,
  content: NewFileContent,
  appearance: 'new' | 'replacing',
  partial = `${target}.${randomUUID()}.partial`,
): Promise<void> {
  try {
    await writePartial(partial, content);
    // Unlike a renaming, a link never replaces a file that has appeared meanwhile.
    await (appearance === 'new' ? link(partial, target) : rename(partial, target));
  } finally {
    await rm(partial, { force: true });
  }
  syncDirectory(dirname(resolve(target)));
}

async function writePartial(partial: string, content: NewFileContent): Promise<void> {
  await using file = await open(partial, 'wx', OWNER_ONLY);
  await (typeof content === 'function' ? content(file, partial) : file.writeFile(content));
  await file.sync();
  // In a directory that others can write to, they could have put another file under the name.
  if ((await lstat(partial)).ino !== (await file.stat()).ino)
    throw Object.assign(new Error(`EPERM: others can change ${dirname(partial)}`), { code: 'EPERM' });
}

/** Creates a directory that only its owner can open, and missing parent directories, durably. */
export function makeDirectory(directory: string): void {
  const first = mkdirSync(resolve(directory), { recursive: true, mode: 0o700 });
  if (first === undefined) return;
  for (let made = resolve(directory); made.length >= first.length; made = dirname(made)) syncDirectory(dirname(made));
}

/** Moves a durable file within a file system, durably. */
export async function moveFile(from: string, to: string): Promise<void> {
  await rename(from, to);
  syncDirectory(dirname(resolve(to)));
}

/** Makes the names in a directory durable. Windows does it by itself, and cannot open directories. */
export function syncDirectory(directory: string): void {
  if (process.platform === 'win32') return;
  const descriptor = openSync(directory, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
