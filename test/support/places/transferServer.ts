// Serves a database with a bucket for transfers: in this process, or as a program that a test can kill.

import { z } from 'zod';
import { allRoutes } from '../../../functions/endpoints.ts';
import type { Audit } from '../../../shared/audit/audit.ts';
import { createApp } from '../../../shared/http/app.ts';
import { type RunningServer, serve } from '../../../shared/http/server.ts';
import { defaultLimits, type Limits } from '../../../shared/limits.ts';
import { configureLog } from '../../../shared/log.ts';
import { createCloudTransfers } from '../../../shared/objectStorage/cloudTransfers.ts';
import { openObjectStorage } from '../../../shared/objectStorage/openObjectStorage.ts';
import { openExistingStore, type StoreLocation } from '../../../shared/store/openStore.ts';
import { memoryTrail } from '../audit/memoryTrail.ts';

/** The settings of a server with a bucket for transfers. */
export interface TransferServer {
  readonly location: StoreLocation;
  /** The limits of requests, responses and dry runs. */
  readonly limits: Partial<Pick<Limits, 'requestBytes' | 'responseBytes' | 'dryRunRecords'>>;
  readonly bucketUrl: string;
  readonly port?: number;
}

/**
 * Starts a server.
 * @param onWrite called when an export begins to write into the bucket
 */
export async function serveTransfers(
  { location, limits: given, bucketUrl, port = 0 }: TransferServer,
  audit: Audit,
  onWrite: () => Promise<void> = async () => {},
): Promise<RunningServer> {
  configureLog('silent');
  const store = await openExistingStore(location);
  const limits = { ...defaultLimits('selfHosted'), ...given };
  const bucket = createCloudTransfers('exports', bucketUrl);
  const transfers = {
    ...bucket,
    write: async (...call: Parameters<typeof bucket.write>) => {
      await onWrite();
      return bucket.write(...call);
    },
  };
  const ports = { store, audit, limits, transfers, now: () => new Date(), objectStorage: openObjectStorage() };
  const app = createApp({ routes: await allRoutes(ports), limits });
  const server = await serve({ app, host: '127.0.0.1', port });
  return {
    url: server.url,
    close: async () => {
      const aborted = await server.close();
      await store.close();
      return aborted;
    },
  };
}

const limit = z.number().exactOptional();
const settings = z.object({
  location: z.object({ kind: z.literal('sqlite'), directory: z.string() }),
  limits: z.object({ requestBytes: limit, responseBytes: limit }),
  bucketUrl: z.string(),
  port: z.number(),
});

if (import.meta.main) {
  const { url } = await serveTransfers(settings.parse(JSON.parse(process.argv[2] ?? '')), memoryTrail().audit);
  process.stdout.write(`listening on ${url}\n`);
}
