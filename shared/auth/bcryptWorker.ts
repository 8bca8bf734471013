import { parentPort } from 'node:worker_threads';
import { hashSync } from 'bcryptjs';

/** A password to hash: with a random salt at this cost, or with the cost and the salt at the beginning of a hash. */
export interface BcryptTask {
  readonly password: string;
  readonly salt: number | string;
}

// The program of a worker thread, which returns the hash of each task.
parentPort?.on('message', ({ password, salt }: BcryptTask) => parentPort?.postMessage(hashSync(password, salt)));
