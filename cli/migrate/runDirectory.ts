// Run directories: creation, checks, files and locks.

import { existsSync } from 'node:fs';
import { chmod, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import type { z } from 'zod';
import { completeFile, makeDirectory, syncDirectory } from '../../shared/durableFiles.ts';
import { migrationMissing, migrationRunning } from '../../shared/errors/placeErrors.ts';
import { checkOwn } from '../../shared/ownFiles.ts';
import { shellWord } from '../../shared/shellWord.ts';
import { systemCode } from '../../shared/systemCode.ts';
import { usageError } from '../command.ts';
import { lockFile } from '../lockFile.ts';
import { printable } from '../terminal.ts';

/** Prefix of generated run directory names. */
const RUN_PREFIX = 'identity-migration-';
/** The file of a run directory with the migration's state. */
export const STATE_FILE = 'state.json';
const OWNER_ONLY_DIRECTORY = 0o700;

/**
 * Creates a run directory that others cannot read. By default, its name contains the time and random characters.
 * @throws IdentityError USAGE_INVALID for a directory that is not empty
 */
export async function createRunDirectory(path: string | undefined, now: Date): Promise<string> {
  const time = now.toISOString().replace(/\.\d+Z$/, 'Z');
  const directory = resolve(path ?? (await mkdtemp(`${RUN_PREFIX}${time.replaceAll(':', '-')}-`)));
  makeDirectory(directory);
  syncDirectory(dirname(directory));
  isOwn(directory);
  const content = await readdir(directory);
  if (content.includes(STATE_FILE))
    throw usageError(
      `${directory} contains a migration: choose another --run-dir, or continue that one with ${migrateCommand('resume', directory)}`,
    );
  if (content.length > 0) throw usageError(`${directory} is not empty: choose another --run-dir`);
  await chmod(directory, OWNER_ONLY_DIRECTORY);
  // A migration must not be committed to a repository.
  await completeFile(join(directory, '.gitignore'), '*\n', 'replacing');
  return directory;
}

/**
 * Returns an existing run directory: the given one, or the only one in the current directory. Its state determines which
 * places get tokens, so only the user can have written it.
 * @throws IdentityError USAGE_INVALID for several run directories; NOT_FOUND, PERMISSION_DENIED
 */
export async function chooseRun(path: string | undefined): Promise<string> {
  const directory = path === undefined ? await findOnlyRun() : resolve(path);
  await requireOwnRun(directory);
  return directory;
}

async function findOnlyRun(): Promise<string> {
  const named = (await readdir('.')).filter((name) => name.startsWith(RUN_PREFIX));
  const found = named.filter((name) => existsSync(join(name, STATE_FILE))).map((name) => resolve(name));
  const [only, ...others] = found;
  if (only === undefined) throw migrationMissing({ path: resolve(`${RUN_PREFIX}*`) });
  if (others.length === 0) return only;
  const names = found.toSorted().map(printable);
  throw usageError([`there are ${found.length} migrations here: specify one with --run-dir`, ...names].join('\n  '));
}

async function requireOwnRun(directory: string): Promise<void> {
  const names = isOwn(directory) ? await readdir(directory) : [];
  if (!names.includes(STATE_FILE)) throw migrationMissing({ path: directory });
  // Partial files of a running process may have disappeared.
  for (const name of names) isOwn(join(directory, name));
}

/** Whether a file of a run directory exists. Throws an error if others can have written it. */
function isOwn(path: string): boolean {
  try {
    checkOwn(path, 'run');
    return true;
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return false;
    throw error;
  }
}

/**
 * Reads a JSON file of a run directory; undefined if it does not exist.
 * @throws IdentityError USAGE_INVALID for a file that another version of the command wrote
 */
export async function readJson<Schema extends z.ZodType>(
  directory: string,
  name: string,
  schema: Schema,
): Promise<z.output<Schema> | undefined> {
  const path = join(directory, name);
  if (!existsSync(path)) return undefined;
  const { data, success } = schema.safeParse(JSON.parse(await readFile(path, 'utf8')));
  if (success) return data;
  throw usageError(
    `${path} is of another version of this command: continue with that version, or migrate again with another --run-dir`,
  );
}

/** Replaces a JSON file of a run directory, durably and atomically. */
export async function writeJson(directory: string, name: string, value: unknown): Promise<void> {
  await completeFile(join(directory, name), `${JSON.stringify(value)}\n`, 'replacing');
}

/**
 * Returns a command on the migration in a run directory, as a shell takes it.
 * @example
 *     migrateCommand('resume', '/srv/my run'); // identity migrate resume --run-dir '/srv/my run'
 */
export function migrateCommand(verb: 'cleanup' | 'report' | 'resume', directory: string): string {
  return `identity migrate ${verb} --run-dir ${shellWord(directory)}`;
}

/** Returns the path of the file with the people whom errors and manual steps are about. */
export function peoplePath(directory: string): string {
  return join(directory, 'people.csv');
}

/** Prefix of the export's file names, including partial files. */
const EXPORT_PREFIX = 'export.';

/** Returns the path of the export in a run directory. */
export function exportPath(directory: string): string {
  return join(directory, `${EXPORT_PREFIX}json.gz`);
}

/** Removes a run directory's export, including partial files; returns whether it existed. */
export async function removeExport(directory: string): Promise<boolean> {
  const names = (await readdir(directory)).filter((name) => name.startsWith(EXPORT_PREFIX));
  for (const name of names) await rm(join(directory, name), { force: true });
  return names.length > 0;
}

/**
 * Locks a run directory until the lock is disposed of or the process ends.
 * @throws IdentityError ABORTED if another process holds the lock
 */
export async function lockRunDirectory(directory: string): Promise<Disposable> {
  const lock = await lockFile(join(directory, 'lock'), join(directory, 'pid'));
  if ('holder' in lock) throw migrationRunning({ path: directory, pid: lock.holder });
  return lock;
}
