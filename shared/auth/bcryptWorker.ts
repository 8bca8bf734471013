import { parentPort } from 'node:worker_threads';
import { hashSync } from 'bcryptjs';

/**
 * A password to hash. For a new hash, `salt` is the cost, and bcrypt generates a random salt. To verify a hash, `salt`
 * contains the first characters of the stored hash, which are its cost and its salt.
 */
export interface BcryptTask {
  readonly password: string;
  readonly salt: number | string;
}

// This file is the program of a worker thread, which hashes each received password.
parentPort?.on('message', ({ password, salt }: BcryptTask) => parentPort?.postMessage(hashSync(password, salt)));
