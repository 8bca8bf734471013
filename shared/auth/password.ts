import { defaultPasswordHashing, type PasswordHashing } from '../passwordHashing.ts';
import { hashArgon2id, verifyArgon2id } from './argon2id.ts';
import { hashBcrypt, verifyBcrypt } from './bcrypt.ts';

/**
 * Hashes a clear password, off the main thread.
 * @param signal drops the derivation if it has not begun
 * @throws the signal's reason
 */
export function hashPassword(
  password: string,
  hashing: PasswordHashing = defaultPasswordHashing,
  signal?: AbortSignal,
): Promise<string> {
  return hashing.algorithm === 'bcrypt' ? hashBcrypt(password, hashing.cost, signal) : hashArgon2id(password, signal);
}

/**
 * Whether `encoded` is a hash of `password`: bcrypt, or argon2id as `hashPassword` derives it; false for any other format.
 * @param signal drops the derivation if it has not begun
 * @throws the signal's reason
 */
export function verifyPassword(password: string, encoded: string, signal?: AbortSignal): Promise<boolean> {
  return encoded.startsWith('$argon2id$')
    ? verifyArgon2id(password, encoded, signal)
    : verifyBcrypt(password, encoded, signal);
}
