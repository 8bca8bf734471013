import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServiceAccount, type LocalServiceAccount } from '../../../local/storage/serviceAccountKey.ts';
import { startStorage } from '../../../local/storage/storageServer.ts';
import type { ServiceAccount } from '../../../shared/objectStorage/objectStorage.ts';
import { readServiceAccount } from '../../../shared/objectStorage/serviceAccount.ts';
import { root } from '../../../tools/program.ts';

/** A stand-in for Cloud Storage with one bucket, `exports`. */
export interface LocalBucket {
  readonly url: string;
  readonly account: ServiceAccount;
  /** The path of the account's key file. */
  readonly keyFile: string;
  close(): Promise<void>;
}

/** The key is kept between runs, because its generation takes a tenth of a second of processor time. */
const KEY = join(root, 'node_modules/.cache/test-keys/bucket.json');

function keptAccount(): Promise<LocalServiceAccount> {
  const read = () => createServiceAccount({ file: KEY, name: 'bucket' });
  // Another worker may have created the same file.
  return read().catch(read);
}

/**
 * Starts the stand-in in a directory that its disposal removes.
 * @param now the time by which signed URLs expire
 */
export async function startLocalBucket(now?: () => Date): Promise<LocalBucket> {
  const directory = await mkdtemp(join(tmpdir(), 'bucket-'));
  const account = await keptAccount();
  const storage = await startStorage({ directory, port: 0, account, bucket: 'exports', ...(now && { now }) });
  return {
    url: storage.url,
    account: readServiceAccount(Buffer.from(account.json).toString('base64'), ''),
    keyFile: KEY,
    close: async () => {
      await storage.close();
      await rm(directory, { recursive: true, force: true });
    },
  };
}
