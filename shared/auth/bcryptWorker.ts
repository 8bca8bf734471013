import { parentPort } from 'node:worker_threads';
import { hashSync } from 'bcryptjs';

/**
 * A password to hash. `salt` is a cost, to generate a random salt, or the first characters of a hash, which contain its
 * cost and salt.
 */
export interface BcryptTask {
  readonly password: string;
  readonly salt: number | string;
}

// The program of a worker thread. It returns the hash of each task.
parentPort?.on('message', ({ password, salt }: BcryptTask) => parentPort?.postMessage(hashSync(password, salt)));
