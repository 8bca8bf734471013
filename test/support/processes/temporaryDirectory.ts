import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A directory of a test. */
export interface TemporaryDirectory {
  readonly path: string;
  remove(): Promise<void>;
}

/** Makes a directory that no other test uses. */
export async function temporaryDirectory(): Promise<TemporaryDirectory> {
  const path = await mkdtemp(join(tmpdir(), 'identity-test-'));
  return { path, remove: () => rm(path, { recursive: true, force: true }) };
}
