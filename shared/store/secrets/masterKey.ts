import { createCipheriv, createDecipheriv, createSecretKey, hkdfSync, type KeyObject, randomBytes } from 'node:crypto';

export interface MasterKey {
  /**
   * The id of the key. Each encrypted value contains this id. It is derived from the key, but does not reveal the key.
   */
  readonly id: string;
  readonly text: string;
  readonly cipherKey: KeyObject;
}

interface KeyLookup {
  /** @throws IdentityError UNAVAILABLE if the key is unknown */
  require(id: string): MasterKey;
}

const KEY_BYTES = 32;
const ID_BYTES = 9;

export function generateMasterKey(): MasterKey {
  return deriveMasterKey(randomBytes(KEY_BYTES));
}

/** Derives an id and an encryption key from the bytes of a master key. Neither reveals the other. */
function deriveMasterKey(bytes: Buffer): MasterKey {
  const derive = (purpose: string, length: number) =>
    Buffer.from(hkdfSync('sha256', bytes, '', `identity master key: ${purpose}`, length));
  return {
    id: derive('id', ID_BYTES).toString('base64url'),
    text: bytes.toString('base64'),
    cipherKey: createSecretKey(derive('AES-256-GCM', KEY_BYTES)),
  };
}

const hex = /^[0-9a-f]{64}$/i;
const base64 = /^[\w+/-]{43}=?$/;
const comment = /#.*$/gm;

/**
 * Parses master keys, newest first: 32 bytes each, in base64 or hexadecimal. Commas or white space separate the keys.
 * Ignores text from `#` to the end of a line.
 * @returns undefined if the text contains no key, or contains anything else
 */
export function parseMasterKeys(text: string): readonly MasterKey[] | undefined {
  const words = text
    .replace(comment, '')
    .split(/[\s,]+/)
    .filter((word) => word !== '');
  if (words.length === 0 || !words.every((word) => hex.test(word) || base64.test(word))) return undefined;
  return words.map((word) => deriveMasterKey(Buffer.from(word, hex.test(word) ? 'hex' : 'base64')));
}

const ALGORITHM = 'aes-256-gcm';
/** The number of bytes of a random nonce. With 96 bits, NIST permits 2^32 encryptions with a key (SP 800-38D, 8.3). */
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/**
 * Encrypts a text.
 * @param place the document and the field that will contain the value; `unseal` needs the same place, so a value that
 * was copied elsewhere does not decrypt
 * @returns the key's id and a dot, then nonce, ciphertext and tag in base64url
 */
export function seal(key: MasterKey, text: string, place: string): string {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(ALGORITHM, key.cipherKey, nonce, { authTagLength: TAG_BYTES });
  cipher.setAAD(Buffer.from(place));
  // Ignore the result of `final`, which is always empty, because GCM is a stream cipher.
  const encrypted = cipher.update(text, 'utf8');
  cipher.final();
  return `${key.id}.${Buffer.concat([nonce, encrypted, cipher.getAuthTag()]).toString('base64url')}`;
}

export function sealingKeyId(sealed: string): string {
  return sealed.slice(0, Math.max(sealed.indexOf('.'), 0));
}

/**
 * Decrypts a value that `seal` returned.
 * @throws IdentityError UNAVAILABLE if the value's key is missing; Error if the value was changed, or was encrypted for
 * another document or field
 */
export function unseal(keys: KeyLookup, sealed: string, place: string): string {
  const id = sealingKeyId(sealed);
  const key = keys.require(id);
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
    throw new Error(`the stored ${place} cannot be decrypted: the value was changed, or copied from another document`, {
      cause,
    });
  }
}
