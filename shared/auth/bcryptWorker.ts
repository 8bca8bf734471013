import { parentPort } from 'node:worker_threads';
import { hashSync } from 'bcryptjs';

/**
 * A password to hash. To compute a new hash, `salt` is the cost as a number, and bcrypt generates the salt. To verify a
 * stored hash, `salt` contains the first characters of this hash, which are its cost and its salt.
 */
export interface BcryptTask {
  readonly password: string;
  readonly salt: number | string;
}

// This file is the program of a worker thread, which hashes each received password.
parentPort?.on('message', ({ password, salt }: BcryptTask) => parentPort?.postMessage(hashSync(password, salt)));
