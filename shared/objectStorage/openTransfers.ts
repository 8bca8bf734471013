import type { Transfers } from './transfers.ts';

/**
 * Opens the bucket for transfers, if there is one. Its client is loaded with the first transfer: it slows the start down and occupies memory,
 * and few calls need a transfer.
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
