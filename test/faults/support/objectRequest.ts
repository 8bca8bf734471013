import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { LocalBucket } from '../../support/emulators/localBucket.ts';

/** What a request names an object of the stand-in by, with the account that may create and read. */
export async function objectRequest({ directory }: LocalBucket, path: string) {
  const keyFile = join(directory, 'keys', 'both.json');
  return { bucket: 'exports', path, serviceaccount_json: await readFile(keyFile, 'base64') };
}
