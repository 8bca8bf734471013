import type { Transfers } from './transfers.ts';

/**
 * Opens the bucket for transfers, if the instance has one. Loads the client at the first transfer, because the client
 * slows down the start and occupies memory, and few calls need a transfer.
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
