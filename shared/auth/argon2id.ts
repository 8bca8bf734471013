import { argon2, randomBytes, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';

const derive = promisify(argon2);

// OWASP's parameters for argon2id: 19 MiB, two passes, one lane.
const PARAMETERS = { memory: 19_456, passes: 2, parallelism: 1, tagLength: 32 };
/** One of libuv's four threads stays free: passwords must delay neither files nor compression nor look-ups of names. */
const MAX_DERIVATIONS = 3;
const ENCODED = /^\$argon2id\$v=19\$m=19456,t=2,p=1\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/;

/**
 * Hashes a password with a random salt, in PHC's string format.
 * @throws the signal's reason, if it aborts before the derivation begins
 */
export async function hashArgon2id(password: string, signal?: AbortSignal): Promise<string> {
  const salt = randomBytes(16);
  return `$argon2id$v=19$m=19456,t=2,p=1$${encode(salt)}$${encode(await deriveTag(password, salt, signal))}`;
}

/** Whether `encoded` is a hash of `password` by `hashArgon2id`; false for hashes of any other format. */
export async function verifyArgon2id(password: string, encoded: string, signal?: AbortSignal): Promise<boolean> {
  const [, salt, tag] = ENCODED.exec(encoded) ?? [];
  if (salt === undefined || tag === undefined) return false;
  const expected = Buffer.from(tag, 'base64');
  const actual = await deriveTag(password, Buffer.from(salt, 'base64'), signal);
  return expected.length === actual.length && timingSafeEqual(expected, actual);
}

let derivations = 0;
const waiting: (() => void)[] = [];

async function deriveTag(password: string, nonce: Buffer, signal: AbortSignal | undefined): Promise<Buffer> {
  if (derivations < MAX_DERIVATIONS) derivations++;
  else await new Promise<void>((resolve) => waiting.push(resolve));
  try {
    signal?.throwIfAborted();
    return Buffer.from(await derive('argon2id', { message: password, nonce, ...PARAMETERS }));
  } finally {
    const next = waiting.shift();
    if (next === undefined) derivations--;
    else next();
  }
}

function encode(bytes: Buffer): string {
  return bytes.toString('base64').replace(/=+$/, '');
}
