import type { ObjectStorage } from './objectStorage.ts';

/**
 * Opens Cloud Storage. Loads the client at the first use of an object: the client slows down the start and occupies
 * memory, and few calls use a bucket.
 */
export function openObjectStorage(): ObjectStorage {
  let opened: Promise<ObjectStorage> | undefined;
  const open = () => {
    opened ??= import('./cloudStorage.ts').then(({ createCloudStorage }) => createCloudStorage());
    return opened;
  };
  return {
    write: async (...call) => (await open()).write(...call),
    pin: async (...call) => (await open()).pin(...call),
  };
}
