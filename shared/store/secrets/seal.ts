import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import type { Keyring } from './keyring.ts';
import type { MasterKey } from './masterKey.ts';

const ALGORITHM = 'aes-256-gcm';
/** Random nonces of 96 bits allow 2^32 values for each key (NIST SP 800-38D, 8.3). */
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/**
 * Encrypts a value.
 * @param place the document and field that the value is bound to: it decrypts nowhere else
 * @returns the key's id, a dot, then nonce, ciphertext and tag in base64url
 */
export function seal(key: MasterKey, text: string, place: string): string {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(ALGORITHM, key.cipherKey, nonce, { authTagLength: TAG_BYTES });
  cipher.setAAD(Buffer.from(place));
  // GCM encrypts as a stream: the end adds nothing to the text.
  const encrypted = cipher.update(text, 'utf8');
  cipher.final();
  return `${key.id}.${Buffer.concat([nonce, encrypted, cipher.getAuthTag()]).toString('base64url')}`;
}

/** Returns the id of the key that has encrypted a value. */
export function sealingKeyId(sealed: string): string {
  return sealed.slice(0, Math.max(sealed.indexOf('.'), 0));
}

/**
 * Decrypts a value.
 * @throws IdentityError UNAVAILABLE without its key; Error for a value that was changed, or belongs to another place
 */
export function unseal(keyring: Keyring, sealed: string, place: string): string {
  const id = sealingKeyId(sealed);
  const key = keyring.require(id);
  const bytes = Buffer.from(sealed.slice(id.length + 1), 'base64url');
  const nonce = bytes.subarray(0, NONCE_BYTES);
  try {
    const decipher = createDecipheriv(ALGORITHM, key.cipherKey, nonce, { authTagLength: TAG_BYTES });
    decipher.setAAD(Buffer.from(place));
    decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
    const text = decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES));
    decipher.final();
    return text.toString();
  } catch (cause) {
    throw new Error(`the stored ${place} does not decrypt: it was changed, or copied from another document`, { cause });
  }
}
