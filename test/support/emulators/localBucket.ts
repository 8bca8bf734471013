import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startStorage } from '../../../local/storage/server.ts';
import { createServiceAccount } from '../../../local/storage/serviceAccountKey.ts';
import type { ServiceAccount } from '../../../shared/objectStorage/objectStorage.ts';
import { readServiceAccount } from '../../../shared/objectStorage/serviceAccount.ts';

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

/** Starts the stand-in in a directory that goes away with it. */
export async function startLocalBucket(): Promise<LocalBucket> {
  const directory = await mkdtemp(join(tmpdir(), 'bucket-'));
  const make = (name: string) => createServiceAccount({ file: join(directory, 'keys', `${name}.json`), name });
  const [both, creator, viewer, admin, stranger] = await Promise.all([
    make('both'),
    make('creator'),
    make('viewer'),
    make('admin'),
    make('stranger'),
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
