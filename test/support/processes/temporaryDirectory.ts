import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A directory of a test. */
export interface TemporaryDirectory {
  readonly path: string;
  remove(): Promise<void>;
}

/**
 * Creates a directory that no other test uses. The directory is in memory if the environment of the project has one
 * there.
 */
export async function temporaryDirectory(
  { TEST_DIRECTORY }: NodeJS.ProcessEnv = process.env,
): Promise<TemporaryDirectory> {
  const path = await mkdtemp(join(TEST_DIRECTORY ?? tmpdir(), 'identity-test-'));
  return { path, remove: () => rm(path, { recursive: true, force: true }) };
}
