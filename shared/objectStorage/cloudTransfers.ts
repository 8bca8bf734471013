import { z } from 'zod';
import { DAY_MS } from '../clock.ts';
import {
  bucketNotFound,
  objectForbidden,
  objectNotFound,
  objectUri,
  transferBucketMissing,
  transfersForbidden,
} from '../errors/storageErrors.ts';
import { createOpener } from './cloudStorage.ts';
import { DEFAULT_CREDENTIALS } from './objectStorage.ts';
import { pinObject } from './readObject.ts';
import { signDownload } from './signDownload.ts';
import { storageError, type Target } from './storageError.ts';
import type { TransferFacts, Transfers } from './transfers.ts';
import { startUpload, writeObject } from './writeObject.ts';

/** The time after which Cloud Storage accepts no more bytes of an upload: a week after its start. */
const UPLOAD_LIFETIME_MS = 7 * DAY_MS;

const custom = z.object({
  'instance-id': z.string(),
  'user-id': z.string(),
  /**
   * The size that the client has declared for the upload. Cloud Storage itself rejects an upload of any other size.
   * Some emulators never do, or only for some kinds of requests.
   */
  size: z.coerce.number().optional(),
});

const toCustom = ({ instanceId, userId }: TransferFacts) => ({ 'instance-id': instanceId, 'user-id': userId });

/**
 * Creates access to the bucket for transfers with the application default credentials. In Google Cloud, these are the
 * credentials of the function's own account.
 * @param apiEndpoint the origin of the service; if absent, the value of STORAGE_EMULATOR_HOST or, if that is unset,
 * Google's origin
 */
export function createCloudTransfers(bucket: string, apiEndpoint?: string): Transfers {
  const open = createOpener(apiEndpoint);
  const call = async <Opened>(
    path: string,
    use: Target['use'],
    work: Parameters<typeof open<Opened>>[2],
    signal: AbortSignal,
  ): Promise<Opened> => {
    const location = { bucket, path, account: DEFAULT_CREDENTIALS } as const;
    try {
      return await open(location, use, work, signal);
    } catch (reason) {
      if (objectForbidden.is(reason)) throw transfersForbidden({ at: objectUri(location) }, { cause: reason.cause });
      if (bucketNotFound.is(reason)) throw transferBucketMissing({ at: objectUri(location), bucket });
      throw reason;
    }
  };

  return {
    async write(id, facts, content, signal) {
      const start = (...[storage, target]: Parameters<typeof startUpload>) =>
        startUpload(storage, target, { custom: toCustom(facts) });
      const session = await call(`exports/${id}`, 'write', start, signal);
      return await writeObject(session, content, signal);
    },

    downloadUrl: (object, signal) => signDownload(object, apiEndpoint, signal),

    async openUpload(id, { facts, size, origin }, signal) {
      const expiresAt = new Date(Date.now() + UPLOAD_LIFETIME_MS);
      const start = (...[storage, target]: Parameters<typeof startUpload>) =>
        startUpload(storage, target, { custom: { ...toCustom(facts), size: String(size) }, size, origin });
      const { uri } = await call(`imports/${id}`, 'write', start, signal);
      return { uri, expiresAt };
    },

    async find(kind, id, signal) {
      const path = `${kind}/${id}`;
      try {
        const { custom: metadata, ...pinned } = await call(path, 'read', pinObject, signal);
        const { data } = custom.safeParse(metadata);
        if (data === undefined || (data.size ?? pinned.size) !== pinned.size) return undefined;
        return { ...pinned, bucket, path, facts: { instanceId: data['instance-id'], userId: data['user-id'] } };
      } catch (reason) {
        if (objectNotFound.is(reason)) return undefined;
        throw reason;
      }
    },

    async delete(kind, id, generation, signal) {
      await call(
        `${kind}/${id}`,
        'remove',
        async (storage, target) => {
          const file = storage.bucket(target.bucket).file(target.path, { generation });
          await file.delete().catch((reason: unknown) => {
            throw storageError(reason, target);
          });
        },
        signal,
      );
    },
  };
}
