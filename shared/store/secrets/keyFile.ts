import { closeSync, fsyncSync, openSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { OWNER_ONLY, syncDirectory } from '../../durableFiles.ts';
import { masterKeyInvalid, masterKeysChanging } from '../../errors/masterKeyErrors.ts';
import { systemCode } from '../../systemCode.ts';
import { type MasterKey, parseMasterKeys } from './masterKey.ts';

const COMMENT = `# This key encrypts the secrets of the database in this directory. Whoever loses it loses these secrets.
# Keep a copy of it, apart from the backups of the database.
`;

/** Returns the path of the key file in an embedded database's directory. */
export function keyFilePath(directory: string): string {
  return join(directory, 'master.key');
}

/**
 * Reads a key file.
 * @returns no keys if the file does not exist
 * @throws IdentityError for a file without valid keys; Error of the file system
 */
export function readKeyFile(file: string): readonly MasterKey[] {
  const text = readIfExists(file);
  if (text === undefined) return [];
  const keys = parseMasterKeys(text);
  if (keys === undefined) throw masterKeyInvalid(file);
  return keys;
}

function readIfExists(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/**
 * Replaces the keys of a file that only its owner can read, durably and at once: a crash leaves the earlier file or the new
 * one. The file beside it, which becomes the new one, is the lock.
 * @param change returns the new keys
 * @throws IdentityError ABORTED while another process changes the file
 */
export function changeKeyFile(file: string, change: (keys: readonly MasterKey[]) => readonly MasterKey[]): void {
  const partial = `${file}.partial`;
  const descriptor = createFile(partial);
  try {
    writeFileSync(
      descriptor,
      `${COMMENT}${change(readKeyFile(file))
        .map(({ text }) => `${text}\n`)
        .join('')}`,
    );
    fsyncSync(descriptor);
    renameSync(partial, file);
  } catch (error) {
    rmSync(partial, { force: true });
    throw error;
  } finally {
    closeSync(descriptor);
  }
  syncDirectory(dirname(file));
}

function createFile(file: string): number {
  try {
    return openSync(file, 'wx', OWNER_ONLY);
  } catch (error) {
    if (systemCode(error) === 'EEXIST') throw masterKeysChanging(file);
    throw error;
  }
}
