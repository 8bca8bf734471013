import type { Transfers } from './transfers.ts';

/**
 * Loads the client library only at the first transfer. Few calls need a transfer, and the library slows down the
 * start and occupies memory.
 */
export function openTransfers(bucket: string | undefined): Transfers | undefined {
  if (bucket === undefined) return undefined;
  let opened: Promise<Transfers> | undefined;
  const open = () => {
    opened ??= import('./cloudTransfers.ts').then(({ createCloudTransfers }) => createCloudTransfers(bucket));
    return opened;
  };
  return {
    write: async (...call) => (await open()).write(...call),
    downloadUrl: async (...call) => (await open()).downloadUrl(...call),
    openUpload: async (...call) => (await open()).openUpload(...call),
    find: async (...call) => (await open()).find(...call),
    delete: async (...call) => (await open()).delete(...call),
  };
}
