import { createSecretKey, hkdfSync, type KeyObject, randomBytes } from 'node:crypto';

/** A key that encrypts a database's secrets. */
export interface MasterKey {
  /** Names the key beside each value that it has encrypted. Derived from the key, it is no secret and proves the key. */
  readonly id: string;
  /** The key as files and variables hold it. */
  readonly text: string;
  readonly cipherKey: KeyObject;
}

const KEY_BYTES = 32;
const ID_BYTES = 9;

/** Creates a random key. */
export function generateMasterKey(): MasterKey {
  return deriveMasterKey(randomBytes(KEY_BYTES));
}

/** Derives the id and the encryption key from a master key's bytes, so that neither tells anything about the other. */
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
 * Parses keys of 32 bytes in base64 or hex, separated by commas or white space, the newest first. Ignores text from `#` to
 * the end of a line.
 * @returns undefined if the text has no key, or anything else
 */
export function parseMasterKeys(text: string): readonly MasterKey[] | undefined {
  const words = text
    .replace(comment, '')
    .split(/[\s,]+/)
    .filter((word) => word !== '');
  if (words.length === 0 || !words.every((word) => hex.test(word) || base64.test(word))) return undefined;
  return words.map((word) => deriveMasterKey(Buffer.from(word, hex.test(word) ? 'hex' : 'base64')));
}
