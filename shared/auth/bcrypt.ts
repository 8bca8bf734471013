import { timingSafeEqual } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import { bcryptCost } from '../organisation/passwords.ts';
import { bcryptCosts, MAX_BCRYPT_BYTES } from '../passwordHashing.ts';
import { WorkerPool } from '../workerPool.ts';
import type { BcryptTask } from './bcryptWorker.ts';

/** The worker's program as one script, which the build defines: a deployed function is a single file. */
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
 * Hashes a password with a random salt.
 * @throws the signal's reason, if it aborts before the derivation begins
 * @throws RangeError for a password that bcrypt would truncate
 */
export async function hashBcrypt(password: string, cost: number, signal?: AbortSignal): Promise<string> {
  if (Buffer.byteLength(password) > MAX_BCRYPT_BYTES)
    throw new RangeError(`bcrypt hashes passwords of at most ${MAX_BCRYPT_BYTES} bytes`);
  return await pool.run({ password, salt: cost }, signal);
}

/**
 * Whether `encoded` is a bcrypt hash of `password`. Hashes of a higher cost than this service derives count as others:
 * one of cost 31 would take days.
 */
export async function verifyBcrypt(password: string, encoded: string, signal?: AbortSignal): Promise<boolean> {
  const cost = bcryptCost(encoded);
  if (cost === undefined || cost > bcryptCosts.max || Buffer.byteLength(password) > MAX_BCRYPT_BYTES) return false;
  const actual = await pool.run({ password, salt: encoded.slice(0, SALT_CHARACTERS) }, signal);
  return timingSafeEqual(Buffer.from(actual), Buffer.from(encoded.slice(0, HASH_CHARACTERS)));
}
