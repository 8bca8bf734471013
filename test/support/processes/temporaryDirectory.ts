import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A directory of a test. */
export interface TemporaryDirectory {
  readonly path: string;
  remove(): Promise<void>;
}

/** Makes a directory that no other test uses, in memory where the project says so. */
export async function temporaryDirectory(): Promise<TemporaryDirectory> {
  const path = await mkdtemp(join(process.env.TEST_DIRECTORY ?? tmpdir(), 'identity-test-'));
  return { path, remove: () => rm(path, { recursive: true, force: true }) };
}
