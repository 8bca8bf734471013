import { accessSync, chmodSync, closeSync, existsSync, fsyncSync, mkdirSync, openSync } from 'node:fs';
import { access, constants, type FileHandle, link, lstat, mkdtemp, open, readdir, rename, rm } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { lockForProcess } from './processLock.ts';
import { systemCode, withFullPath } from './systemCode.ts';

export const OWNER_ONLY = 0o600;

/**
 * Creates an empty file that only its owner can access. If the file exists, removes the other users' permissions on it.
 * Call this function before SQLite opens the file, because a file that SQLite creates can be read and locked by other
 * users. Does not open an existing file, because closing this file would release the locks that this process has on it.
 * @throws Error if the file system refuses an operation
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
 * The content of a file, or a function that writes the content. The function receives the open file and the file's
 * path. Another user may replace the file at this path, but cannot replace the open file.
 */
type NewFileContent = string | Uint8Array | ((file: FileHandle, path: string) => Promise<void>);

/**
 * Writes a new file that only its owner can read. The file appears under its name only when it is complete and durable.
 * If the process is killed, the next call for the same file removes the incomplete file.
 * @param warn called when this function removes a folder that a killed process left; once for each folder
 * @throws Error EEXIST if the file exists; EPERM if another user has replaced the incomplete file; another error if the
 * file system refuses an operation; any error that `content` throws
 */
export async function completeFile(
  target: string,
  content: NewFileContent,
  warn: (warning: string) => void = () => {},
): Promise<void> {
  await removeLeftFolders(target, warn);
  // If this process is killed, the folder remains. By the lock in the folder, other processes recognise whether this
  // process still runs.
  const folder = await mkdtemp(`${target}${PARTIAL}`);
  try {
    using _ = await lockNewFile(join(folder, LOCK));
    await completeIn(folder, target, content).finally(() => emptyFolder(folder));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  syncDirectory(dirname(resolve(target)));
}

/**
 * The middle of a temporary folder's name. The name begins with the name of the new file, and ends with a random
 * suffix.
 */
const PARTIAL = '.partial-';
/**
 * The two files in a temporary folder: a lock, and the incomplete copy of the new file. A process locks the lock file
 * before it creates the copy. So if there is a copy without a locked lock file, the process was killed.
 */
const [LOCK, COPY] = ['lock', 'copy'];

async function lockNewFile(path: string): Promise<Disposable> {
  // Create the file before SQLite opens it, because SQLite would not report why this fails. It fails, for example, if
  // another user has created the file.
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
  // Use a hard link instead of a rename, because a rename would replace a file that another process has created under
  // this name.
  await link(partial, target);
}

async function removeLeftFolders(target: string, warn: (warning: string) => void): Promise<void> {
  const directory = dirname(target);
  const names = await readdir(directory);
  for (const name of names.filter((name) => name.startsWith(`${basename(target)}${PARTIAL}`))) {
    const folder = join(directory, name);
    using lock = lockLeftFolder(folder);
    if (lock === undefined) continue;
    await emptyFolder(folder);
    await rm(folder, { recursive: true });
    warn(`removed the folder ${folder} of a killed process`);
  }
}

/**
 * @returns undefined if the process that created the folder still runs. It still runs if the folder contains no lock or
 * no copy, because the process is then still filling or removing the folder
 */
function lockLeftFolder(folder: string): Disposable | undefined {
  const isFilled = () => [LOCK, COPY].every((file) => existsSync(join(folder, file)));
  if (!isFilled()) return undefined;
  let lock: Disposable | undefined;
  try {
    lock = lockForProcess(join(folder, LOCK));
  } catch (error) {
    // If a file in the folder is missing now, the process that created the folder is removing it.
    if (!isFilled()) return undefined;
    throw error;
  }
  if (isFilled()) return lock;
  lock?.[Symbol.dispose]();
  return undefined;
}

/** Removes all files of the folder except the lock, which must remain until the other files are removed. */
async function emptyFolder(folder: string): Promise<void> {
  const names = await readdir(folder);
  for (const name of names.filter((name) => name !== LOCK)) await rm(join(folder, name), { force: true });
}

async function writePartial(partial: string, content: NewFileContent, directory: string): Promise<void> {
  await using file = await open(partial, 'wx', OWNER_ONLY);
  await (typeof content === 'function' ? content(file, partial) : file.writeFile(content));
  await file.sync();
  // Check that the path still leads to the open file. If other users can write to the directory, they may have replaced
  // the folder.
  if ((await lstat(partial)).ino !== (await file.stat()).ino)
    throw Object.assign(new Error(`EPERM: other users can change ${directory}`), { code: 'EPERM' });
}

/**
 * Replaces the content of a file durably. Only the file's owner can read the new content. After a crash, the file has
 * its old or its new content, never a part. Only one process at a time may call this function for a file, because each
 * call removes the incomplete file of the previous call.
 * @throws Error if the file system refuses an operation
 */
export async function replaceFile(target: string, content: string): Promise<void> {
  const partial = `${target}.partial`;
  await rm(partial, { force: true });
  await writePartial(partial, content, dirname(target));
  await moveFile(partial, target);
}

const NOT_PERMITTED = 'does not permit this user to create files';

const directoryProblems: ReadonlyMap<string, string> = new Map([
  ['ENOENT', 'does not exist'],
  ['ENOTDIR', 'is not a directory'],
  ['EROFS', 'is on a read-only file system'],
  ['EACCES', NOT_PERMITTED],
  ['EPERM', NOT_PERMITTED],
  ['ENOSPC', 'has no space left'],
  ['EDQUOT', 'has no space left'],
]);

/** @returns the reason why this process cannot create files in the directory; undefined if it can */
export async function directoryProblem(directory: string): Promise<string | undefined> {
  try {
    // Require that this process can list the directory, because it must find the folders that killed processes left.
    await access(directory, constants.R_OK);
    await rm(await mkdtemp(join(directory, 'trial-')), { recursive: true });
    return undefined;
  } catch (error) {
    const code = systemCode(error);
    // The directory exists, but this process cannot create files in it. So the operating system manages the directory;
    // /proc is an example.
    if (code === 'ENOENT' && existsSync(directory)) return 'accepts no new files';
    const problem = directoryProblems.get(code);
    if (problem === undefined) throw error;
    return problem;
  }
}

/** Creates a directory, and its missing parent directories, durably. Only their owner can open them. */
export function makeDirectory(directory: string): void {
  const first = createDirectories(resolve(directory));
  if (first === undefined) return;
  for (let made = resolve(directory); made.length >= first.length; made = dirname(made)) syncDirectory(dirname(made));
}

/** @returns the topmost directory that this function created; undefined if all directories existed */
function createDirectories(directory: string): string | undefined {
  try {
    return mkdirSync(directory, { recursive: true, mode: 0o700 });
  } catch (error) {
    // If a parent directory is read-only, Node's error claims that the new directory is missing. Throw the error of the
    // parent directory instead.
    let parent = dirname(directory);
    while (!existsSync(parent)) parent = dirname(parent);
    accessSync(parent, constants.W_OK);
    throw error;
  }
}

/** Renames a file within a file system, and makes the new name durable. The content must be durable already. */
export async function moveFile(from: string, to: string): Promise<void> {
  await rename(from, to);
  syncDirectory(dirname(resolve(to)));
}

/**
 * Makes the names of a directory's files durable. Does nothing on Windows, because Windows makes names durable by
 * itself, and cannot open directories.
 */
export function syncDirectory(directory: string): void {
  if (process.platform === 'win32') return;
  const descriptor = openSync(directory, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
