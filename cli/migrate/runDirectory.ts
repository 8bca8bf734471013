import { access, chmod, mkdir, readdir, readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { z } from 'zod';
import { completeFile } from '../../shared/durableFiles.ts';
import { migrationMissing } from '../../shared/errors/migrationErrors.ts';
import { systemCode } from '../../shared/systemCode.ts';
import { UsageError } from '../command.ts';

const PREFIX = 'identity-migration-';
const STATE = 'state.json';
const OWNER_ONLY_DIRECTORY = 0o700;

/**
 * The directory of a migration's state, journal and export, which others cannot read. Without a path, its name has the
 * time of its creation.
 * @throws UsageError for a directory that holds something
 */
export async function createRunDirectory(path: string | undefined, now: Date): Promise<string> {
  const directory = resolve(
    path ??
      `${PREFIX}${now
        .toISOString()
        .replace(/\.\d+Z$/, 'Z')
        .replaceAll(':', '-')}`,
  );
  await mkdir(directory, { recursive: true, mode: OWNER_ONLY_DIRECTORY });
  const content = await readdir(directory);
  if (content.includes(STATE))
    throw new UsageError(`${directory} holds a migration: go on with identity migrate resume --run-dir ${directory}`);
  if (content.length > 0) throw new UsageError(`${directory} is not empty: choose another --run-dir`);
  await chmod(directory, OWNER_ONLY_DIRECTORY);
  // Nothing of a migration belongs into a repository.
  await completeFile(join(directory, '.gitignore'), '*\n', 'replacing');
  return directory;
}

/**
 * Finds the directory of a migration: the given one, or the latest in the current directory.
 * @throws IdentityError NOT_FOUND
 */
export async function findRunDirectory(path: string | undefined): Promise<string> {
  const names = path === undefined ? await readdir('.') : [];
  const latest = names.filter((name) => name.startsWith(PREFIX)).sort();
  const directory = resolve(path ?? latest.at(-1) ?? '.');
  try {
    await access(join(directory, STATE));
  } catch (error) {
    throw systemCode(error) === 'ENOENT' ? migrationMissing(directory) : error;
  }
  return directory;
}

/** Reads a JSON file of a run directory; undefined if it does not exist. */
export async function readJson<Schema extends z.ZodType>(
  directory: string,
  name: string,
  schema: Schema,
): Promise<z.output<Schema> | undefined> {
  try {
    return schema.parse(JSON.parse(await readFile(join(directory, name), 'utf8')));
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}
