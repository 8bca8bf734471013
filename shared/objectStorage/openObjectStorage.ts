import type { ObjectStorage } from './objectStorage.ts';

/**
 * Loads the client library only when a call uses an object. Few calls use objects, and the library slows down the start
 * and occupies memory.
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
