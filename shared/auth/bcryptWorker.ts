import { parentPort } from 'node:worker_threads';
import { hashSync } from 'bcryptjs';

/**
 * A password to hash: with this cost and a random salt, or with the cost and salt in the first characters of a hash.
 */
export interface BcryptTask {
  readonly password: string;
  readonly salt: number | string;
}

// The program of a worker thread. It returns the hash of each task.
parentPort?.on('message', ({ password, salt }: BcryptTask) => parentPort?.postMessage(hashSync(password, salt)));
