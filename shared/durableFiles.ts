// Writes files that appear under their names only when they are complete and durable.

import { accessSync, chmodSync, closeSync, existsSync, fsyncSync, mkdirSync, openSync } from 'node:fs';
import { access, constants, type FileHandle, link, lstat, mkdtemp, open, readdir, rename, rm } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { lockForProcess } from './processLock.ts';
import { systemCode, withFullPath } from './systemCode.ts';

/** The file mode for secrets and personal data: only the owner can read the file. */
export const OWNER_ONLY = 0o600;

/**
 * Creates an empty file that only its owner can read, and removes the permissions of others from an existing file. Call it
 * before SQLite opens the file: SQLite would create a file that others can read and lock. Does not open an existing file,
 * because closing it would release this process's locks of the file.
 * @throws Error of the file system
 */
export function createPrivateFile(file: string): void {
  try {
    closeSync(openSync(file, 'wx', OWNER_ONLY));
  } catch (error) {
    if (systemCode(error) !== 'EEXIST') throw error;
    chmodSync(file, OWNER_ONLY);
  }
}

/**
 * A file's content, or a function that fills the empty file. The function receives the open file and its path. Another
 * user may be able to replace the path, but not the open file.
 */
type NewFileContent = string | Uint8Array | ((file: FileHandle, path: string) => Promise<void>);

/**
 * Writes a new file that only its owner can read. The file appears under its name only when it is complete and durable.
 * After a crash, the next call for the same file removes the incomplete file.
 * @param warn called for each removed folder of a killed process
 * @throws Error of the file system: EEXIST if the name is taken, EPERM if another user has replaced the file; the
 * errors of `content`
 */
export async function completeFile(
  target: string,
  content: NewFileContent,
  warn: (warning: string) => void = () => {},
): Promise<void> {
  await removeLeftFolders(target, warn);
  // A killed process cannot remove its folder. Other processes recognise by the lock whether the folder's process still
  // runs.
  const folder = await mkdtemp(`${target}${PARTIAL}`);
  try {
    using _ = await lockNewFile(join(folder, LOCK));
    await completeIn(folder, target, content).finally(() => emptyFolder(folder));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  syncDirectory(dirname(resolve(target)));
}

/** The infix between a file's name and the random suffix of the folder in which it is written. */
const PARTIAL = '.partial-';
/**
 * The files in the folder of an unfinished file. The copy exists only while a process holds the lock, or after the
 * process was killed.
 */
const [LOCK, COPY] = ['lock', 'copy'];

async function lockNewFile(path: string): Promise<Disposable> {
  // Create the file first, because SQLite does not return the system's error. This also fails if another user has put a
  // file there.
  closeSync(openSync(path, 'wx', OWNER_ONLY));
  const lock = lockAt(path);
  if (lock === undefined) throw new Error(`${path} is locked by another process`);
  return lock;
}

function lockAt(path: string): Disposable | undefined {
  try {
    return lockForProcess(path);
  } catch (error) {
    throw withFullPath(error, path);
  }
}

async function completeIn(folder: string, target: string, content: NewFileContent): Promise<void> {
  const partial = join(folder, COPY);
  await writePartial(partial, content, dirname(target));
  // Unlike a rename, a link never replaces a file that another process has created in the meantime.
  await link(partial, target);
}

/** Removes the folders of processes that were killed while they wrote the file. */
async function removeLeftFolders(target: string, warn: (warning: string) => void): Promise<void> {
  const directory = dirname(target);
  const names = await readdir(directory);
  for (const name of names.filter((name) => name.startsWith(`${basename(target)}${PARTIAL}`))) {
    const folder = join(directory, name);
    using lock = lockLeftFolder(folder);
    if (lock === undefined) continue;
    await emptyFolder(folder);
    await rm(folder, { recursive: true });
    warn(`removed ${folder}, which a killed process left`);
  }
}

/**
 * Locks a folder that a killed process left.
 * @returns undefined if a running process uses the folder. A folder without a copy is in use too: a process has just
 * created this folder.
 */
function lockLeftFolder(folder: string): Disposable | undefined {
  const isFilled = () => [LOCK, COPY].every((file) => existsSync(join(folder, file)));
  if (!isFilled()) return undefined;
  let lock: Disposable | undefined;
  try {
    lock = lockForProcess(join(folder, LOCK));
  } catch (error) {
    // The process of the folder has just completed the file, and removes the folder.
    if (!isFilled()) return undefined;
    throw error;
  }
  if (isFilled()) return lock;
  lock?.[Symbol.dispose]();
  return undefined;
}

/** Removes the files of a folder except the lock, which must exist until the other files are removed. */
async function emptyFolder(folder: string): Promise<void> {
  const names = await readdir(folder);
  for (const name of names.filter((name) => name !== LOCK)) await rm(join(folder, name), { force: true });
}

async function writePartial(partial: string, content: NewFileContent, directory: string): Promise<void> {
  await using file = await open(partial, 'wx', OWNER_ONLY);
  await (typeof content === 'function' ? content(file, partial) : file.writeFile(content));
  await file.sync();
  // Another user may have replaced the folder, if other users can write to the directory.
  if ((await lstat(partial)).ino !== (await file.stat()).ino)
    throw Object.assign(new Error(`EPERM: others can change ${directory}`), { code: 'EPERM' });
}

/**
 * Replaces a file. Only the owner can read the new file. After a crash, either the old or the new file is complete. The
 * caller must be the only writer of the file, because the next call overwrites the leftovers of a killed process.
 * @throws Error of the file system
 */
export async function replaceFile(target: string, content: string): Promise<void> {
  const partial = `${target}.partial`;
  await rm(partial, { force: true });
  await writePartial(partial, content, dirname(target));
  await moveFile(partial, target);
}

const NOT_PERMITTED = 'does not permit this user to create files';

/** Texts that describe what is wrong with a directory, by the system's error codes. */
const directoryProblems: ReadonlyMap<string, string> = new Map([
  ['ENOENT', 'does not exist'],
  ['ENOTDIR', 'is not a directory'],
  ['EROFS', 'is on a read-only file system'],
  ['EACCES', NOT_PERMITTED],
  ['EPERM', NOT_PERMITTED],
  ['ENOSPC', 'has no space left'],
  ['EDQUOT', 'has no space left'],
]);

/** Tries to create a file in a directory. Returns the reason if this process cannot; undefined if it can. */
export async function directoryProblem(directory: string): Promise<string | undefined> {
  try {
    // A process must be able to list the directory to remove the leftovers of killed processes.
    await access(directory, constants.R_OK);
    await rm(await mkdtemp(join(directory, 'trial-')), { recursive: true });
    return undefined;
  } catch (error) {
    const code = systemCode(error);
    // The system's own directories, such as /proc, accept no new files.
    if (code === 'ENOENT' && existsSync(directory)) return 'accepts no new files';
    const problem = directoryProblems.get(code);
    if (problem === undefined) throw error;
    return problem;
  }
}

/** Creates a directory that only its owner can open, and its missing parent directories, durably. */
export function makeDirectory(directory: string): void {
  const first = createDirectories(resolve(directory));
  if (first === undefined) return;
  for (let made = resolve(directory); made.length >= first.length; made = dirname(made)) syncDirectory(dirname(made));
}

/**
 * Creates a directory and its missing parents.
 * @returns the first directory that was created; undefined if all exist
 */
function createDirectories(directory: string): string | undefined {
  try {
    return mkdirSync(directory, { recursive: true, mode: 0o700 });
  } catch (error) {
    // If the parent is read-only, Node reports that the new directory is missing. Throw the parent's error instead.
    let parent = dirname(directory);
    while (!existsSync(parent)) parent = dirname(parent);
    accessSync(parent, constants.W_OK);
    throw error;
  }
}

/** Moves a durable file within a file system, and makes its new name durable. */
export async function moveFile(from: string, to: string): Promise<void> {
  await rename(from, to);
  syncDirectory(dirname(resolve(to)));
}

/** Makes the names in a directory durable. Windows does this by itself, and cannot open directories. */
export function syncDirectory(directory: string): void {
  if (process.platform === 'win32') return;
  const descriptor = openSync(directory, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
