import { argon2, timingSafeEqual } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { promisify } from 'node:util';
import { Worker } from 'node:worker_threads';
import { bcryptCosts, MAX_BCRYPT_BYTES } from '../bcryptCosts.ts';
import { costOfBcryptHash } from '../organisation/hashFormats.ts';
import { WorkerPool } from '../workerPool.ts';
import type { BcryptTask } from './bcryptWorker.ts';

/**
 * Hashes a clear password with bcrypt and a random salt, in a worker thread.
 * @param signal cancels the task if it has not begun
 * @throws the signal's reason if the signal aborts
 * @throws RangeError if bcrypt would truncate the password
 */
export async function hashPassword(
  password: string,
  cost: number = bcryptCosts.default,
  signal?: AbortSignal,
): Promise<string> {
  if (Buffer.byteLength(password) > MAX_BCRYPT_BYTES)
    throw new RangeError(`bcrypt hashes passwords of at most ${MAX_BCRYPT_BYTES} bytes`);
  return await pool.run({ password, salt: cost }, signal);
}

/**
 * Returns whether a password matches an encoded hash. Supports bcrypt, and argon2id with OWASP's parameters; returns
 * false for any other format.
 * @param signal cancels the task if it has not begun
 * @throws the signal's reason if the signal aborts
 */
export function verifyPassword(password: string, encoded: string, signal?: AbortSignal): Promise<boolean> {
  return encoded.startsWith('$argon2id$')
    ? verifyArgon2id(password, encoded, signal)
    : verifyBcrypt(password, encoded, signal);
}

const derive = promisify(argon2);

// OWASP's parameters for argon2id: 19 MiB, two passes, one lane.
const PARAMETERS = { memory: 19_456, passes: 2, parallelism: 1, tagLength: 32 };
/**
 * The maximum number of argon2id hashes at a time. One of libuv's four threads stays free, so that passwords do not
 * delay file access, compression and DNS look-ups.
 */
const MAX_DERIVATIONS = 3;
const ENCODED = /^\$argon2id\$v=19\$m=19456,t=2,p=1\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/;

async function verifyArgon2id(password: string, encoded: string, signal?: AbortSignal): Promise<boolean> {
  const [, salt, tag] = ENCODED.exec(encoded) ?? [];
  if (salt === undefined || tag === undefined) return false;
  const expected = Buffer.from(tag, 'base64');
  const actual = await deriveTag(password, Buffer.from(salt, 'base64'), signal);
  return expected.length === actual.length && timingSafeEqual(expected, actual);
}

let derivations = 0;
const waitingDerivations: (() => void)[] = [];

async function deriveTag(password: string, nonce: Buffer, signal: AbortSignal | undefined): Promise<Buffer> {
  if (derivations < MAX_DERIVATIONS) derivations++;
  else await new Promise<void>((resolve) => waitingDerivations.push(resolve));
  try {
    signal?.throwIfAborted();
    return Buffer.from(await derive('argon2id', { message: password, nonce, ...PARAMETERS }));
  } finally {
    const next = waitingDerivations.shift();
    if (next === undefined) derivations--;
    else next();
  }
}

/**
 * The source code of the worker thread. The build defines this constant, because a deployed function is a single file.
 */
declare const BCRYPT_WORKER: string | undefined;

const MAX_WORKERS = 16;
const SALT_CHARACTERS = 29;
const HASH_CHARACTERS = 60;

const pool = new WorkerPool<BcryptTask, string>(startWorker, Math.min(availableParallelism(), MAX_WORKERS));

function startWorker(): Worker {
  return typeof BCRYPT_WORKER === 'string'
    ? new Worker(BCRYPT_WORKER, { eval: true })
    : new Worker(new URL('./bcryptWorker.ts', import.meta.url));
}

/**
 * Returns false if the cost of the hash exceeds this service's maximum, because verifying a hash of cost 31 would take
 * days.
 */
async function verifyBcrypt(password: string, encoded: string, signal?: AbortSignal): Promise<boolean> {
  const cost = costOfBcryptHash(encoded);
  if (cost === undefined || cost > bcryptCosts.max || Buffer.byteLength(password) > MAX_BCRYPT_BYTES) return false;
  const actual = await pool.run({ password, salt: encoded.slice(0, SALT_CHARACTERS) }, signal);
  return timingSafeEqual(Buffer.from(actual), Buffer.from(encoded.slice(0, HASH_CHARACTERS)));
}
