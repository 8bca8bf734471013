import { readFile } from 'node:fs/promises';
import type { LocalBucket } from '../../support/emulators/localBucket.ts';

/** The request's reference to an object of the stand-in. */
export async function objectRequest({ keyFile }: LocalBucket, path: string) {
  return { bucket: 'exports', path, serviceaccount_json: await readFile(keyFile, 'base64') };
}
