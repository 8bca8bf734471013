import type { Bucket, ObjectLocation } from './bucket.ts';
import { checkObjectName } from './objectName.ts';
import { orAbort } from './orAbort.ts';
import { pinObject } from './readObject.ts';
import { openStorage } from './storageClient.ts';
import type { Target } from './storageFault.ts';
import { startUpload } from './uploadSession.ts';
import { writeObject } from './writeObject.ts';

/** Where Cloud Storage is, when it is neither Google's nor at STORAGE_EMULATOR_HOST. */
export interface CloudStorageOptions {
  /** An origin, for example `http://127.0.0.1:8082`. */
  readonly apiEndpoint?: string;
}

/**
 * Cloud Storage. Each call has a client of its own, with that call's account, and needs no more than the permission
 * storage.objects.create (write) or storage.objects.get (pin, read).
 */
export function createCloudStorage({ apiEndpoint }: CloudStorageOptions = {}): Bucket {
  return {
    async write(location, content, signal) {
      const target = targetOf(location, 'write');
      const storage = openStorage(location.account, 'read_write', apiEndpoint);
      const session = await orAbort(startUpload(storage, target), signal);
      return writeObject(session, content, signal);
    },
    async pin(location, signal) {
      const target = targetOf(location, 'read');
      const storage = openStorage(location.account, 'read_only', apiEndpoint);
      return orAbort(pinObject(storage, target), signal);
    },
  };
}

function targetOf({ bucket, path }: ObjectLocation, use: Target['use']): Target {
  checkObjectName({ bucket, path }, '');
  return { bucket, path, use };
}
