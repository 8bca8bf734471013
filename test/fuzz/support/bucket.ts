import { join } from 'node:path';
import { startStorage } from '../../../local/storage/server.ts';
import { createServiceAccount } from '../../../local/storage/serviceAccountKey.ts';

/** A stand-in for Cloud Storage with the buckets `exports` and `others`. */
interface FuzzedBucket {
  readonly url: string;
  /** The key files of accounts: of `exports`, of `others`, of none. */
  readonly keyFiles: readonly string[];
  close(): Promise<void>;
}

/** Starts a stand-in whose objects are in a directory. */
export async function startBucket(directory: string): Promise<FuzzedBucket> {
  const make = (name: string) => createServiceAccount({ file: join(directory, `${name}.json`), name });
  const [owner, stranger, unknown] = await Promise.all([make('owner'), make('stranger'), make('unknown')]);
  const storage = await startStorage({
    directory: join(directory, 'storage'),
    port: 0,
    accounts: [
      { ...owner, roles: ['objectCreator', 'objectViewer'], buckets: ['exports'] },
      { ...stranger, roles: ['objectAdmin'], buckets: ['others'] },
    ],
  });
  return { url: storage.url, keyFiles: [owner, stranger, unknown].map(({ json }) => json), close: storage.close };
}
