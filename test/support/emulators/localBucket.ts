import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startStorage } from '../../../local/storage/server.ts';
import { createServiceAccount, type LocalServiceAccount } from '../../../local/storage/serviceAccountKey.ts';
import type { ServiceAccount } from '../../../shared/objectStorage/objectStorage.ts';
import { readServiceAccount } from '../../../shared/objectStorage/serviceAccount.ts';
import { root } from '../../../tools/program.ts';

/** A stand-in with one bucket, `exports`, and an account for each of the roles. */
export interface LocalBucket {
  readonly url: string;
  readonly directory: string;
  /** May create and read. */
  readonly both: ServiceAccount;
  readonly creator: ServiceAccount;
  readonly viewer: ServiceAccount;
  readonly admin: ServiceAccount;
  /** Its roles are for the bucket `others`. */
  readonly stranger: ServiceAccount;
  close(): Promise<void>;
}

/** Keys are kept between runs: to generate one takes a tenth of a second of processor. */
const KEYS = join(root, 'node_modules/.cache/test-keys');

async function keptAccount(name: string, directory: string): Promise<LocalServiceAccount> {
  const file = join(KEYS, `${name}.json`);
  const read = () => createServiceAccount({ file, name });
  // Another worker may have created the same file meanwhile.
  const account = await read().catch(read);
  await cp(file, join(directory, 'keys', `${name}.json`));
  return account;
}

/** Starts the stand-in in a directory that goes away with it. */
export async function startLocalBucket(): Promise<LocalBucket> {
  const directory = await mkdtemp(join(tmpdir(), 'bucket-'));
  const [both, creator, viewer, admin, stranger] = await Promise.all([
    keptAccount('both', directory),
    keptAccount('creator', directory),
    keptAccount('viewer', directory),
    keptAccount('admin', directory),
    keptAccount('stranger', directory),
  ]);
  const storage = await startStorage({
    directory: join(directory, 'storage'),
    port: 0,
    accounts: [
      { ...both, roles: ['objectCreator', 'objectViewer'], buckets: ['exports'] },
      { ...creator, roles: ['objectCreator'], buckets: ['exports'] },
      { ...viewer, roles: ['objectViewer'], buckets: ['exports'] },
      { ...admin, roles: ['objectAdmin'], buckets: ['exports'] },
      { ...stranger, roles: ['objectAdmin'], buckets: ['others'] },
    ],
  });
  const account = ({ json }: { json: string }) => readServiceAccount(Buffer.from(json).toString('base64'), '');
  return {
    url: storage.url,
    directory,
    both: account(both),
    creator: account(creator),
    viewer: account(viewer),
    admin: account(admin),
    stranger: account(stranger),
    close: async () => {
      await storage.close();
      await rm(directory, { recursive: true, force: true });
    },
  };
}
