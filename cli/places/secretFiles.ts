import { readFile, stat } from 'node:fs/promises';
import { IdentityError } from '../../shared/errors/identityError.ts';
import { sourceMissing } from '../../shared/errors/placeErrors.ts';
import type { ServiceAccount } from '../../shared/objectStorage/objectStorage.ts';
import { readServiceAccount } from '../../shared/objectStorage/serviceAccount.ts';
import { systemCode } from '../../shared/systemCode.ts';
import { UsageError } from '../command.ts';

/**
 * Reads the token that a file holds alone.
 * @param option the option that names the file
 * @throws UsageError that does not repeat the content
 */
export async function readTokenFile(file: string, option: string): Promise<string> {
  const token = (await readSecretFile(file)).trim();
  if (/^[\x21-\x7e]+$/.test(token)) return token;
  throw new UsageError(`${file} of ${option} holds no token: it must hold the token alone, in one line`);
}

/**
 * Reads a service account's key file.
 * @param option the option that names the file
 * @throws UsageError that does not repeat the content
 */
export async function readKeyFile(file: string, option: string): Promise<ServiceAccount> {
  const text = await readSecretFile(file);
  try {
    return readServiceAccount(Buffer.from(text).toString('base64'), file);
  } catch (error) {
    if (!(error instanceof IdentityError)) throw error;
    throw new UsageError(`invalid ${option}: ${error.message}`);
  }
}

/** Reads a file, and warns of one that others can read. */
async function readSecretFile(file: string): Promise<string> {
  try {
    if (await isOpenToOthers(file)) process.stderr.write(`identity: others can read ${file}: run chmod 600 ${file}\n`);
    return await readFile(file, 'utf8');
  } catch (error) {
    if (systemCode(error) === 'ENOENT') throw sourceMissing(file);
    throw error;
  }
}

const OTHERS = 0o077;

/** Whether others than its owner can read or change a file, where files have such permissions. */
export async function isOpenToOthers(file: string): Promise<boolean> {
  return process.platform !== 'win32' && ((await stat(file)).mode & OTHERS) !== 0;
}
