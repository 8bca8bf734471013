import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { onTestFinished, vi } from 'vitest';
import { z } from 'zod';
import { allRoutes } from '../../../functions/endpoints.ts';
import type { AuditEvent } from '../../../shared/audit/auditEvent.ts';
import { createApp } from '../../../shared/http/app.ts';
import { serve } from '../../../shared/http/server.ts';
import { defaultLimits, type Limits } from '../../../shared/limits.ts';
import { configureLog } from '../../../shared/log.ts';
import { createCloudTransfers } from '../../../shared/objectStorage/cloudTransfers.ts';
import { openObjectStorage } from '../../../shared/objectStorage/openObjectStorage.ts';
import type { Transfers } from '../../../shared/objectStorage/transfers.ts';
import { openExistingStore } from '../../../shared/store/openStore.ts';
import { memoryTrail } from '../audit/memoryTrail.ts';
import { identityJson } from '../command.ts';
import { becomeFunction } from '../emulators/functionAccount.ts';
import { startLocalBucket } from '../emulators/localBucket.ts';
import { startTcpProxy, type TcpProxy } from '../http/tcpProxy.ts';
import { sqlite } from '../stores/stores.ts';
import { databaseOptions, placeOfLocation } from './locations.ts';
import { type ServedPlace, testDirectory } from './servedPlace.ts';

const created = z.object({ token: z.string(), orgId: z.string() });

/** A bucket for transfers of instances that this process serves. */
export interface TransferBucket {
  /** The network between the bucket and all its clients, the instances included. */
  readonly network: TcpProxy;
}

/** Starts a bucket until the test has finished, with the account of this process. */
export async function transferBucket(): Promise<TransferBucket> {
  const bucket = await startLocalBucket();
  onTestFinished(() => bucket.close());
  const network = await startTcpProxy(bucket.url);
  onTestFinished(() => network.close());
  becomeFunction(bucket.url);
  onTestFinished(() => void vi.unstubAllEnvs());
  return { network };
}

/** An instance with a bucket for transfers, served by this process until the test has finished. */
export interface TransferPlace extends ServedPlace {
  /** The names of the events of its audit trail so far. */
  readonly events: () => readonly AuditEvent['event'][];
}

/**
 * Initialises a database, and serves it with a bucket.
 * @param onWrite called when an export begins to write into the bucket
 */
export async function transferPlace(
  { network }: TransferBucket,
  given: Partial<Limits>,
  onWrite: () => Promise<void> = async () => {},
): Promise<TransferPlace> {
  const location = await sqlite.newLocation();
  const { token, orgId } = created.parse(await identityJson(['init', ...databaseOptions(location)]));
  const store = await openExistingStore(location);
  onTestFinished(() => store.close());
  configureLog('silent');
  const { audit, events } = memoryTrail();
  const limits = { ...defaultLimits('selfHosted'), ...given };
  const ports = { store, audit, limits, now: () => new Date(), objectStorage: openObjectStorage() };
  const transfers = createCloudTransfers('exports', network.url);
  const write: Transfers['write'] = async (...call) => {
    await onWrite();
    return transfers.write(...call);
  };
  const routes = await allRoutes({ ...ports, transfers: { ...transfers, write } });
  const server = await serve({ app: createApp({ routes, limits }), host: '127.0.0.1', port: 0 });
  onTestFinished(async () => void (await server.close()));
  const tokenFile = join(await testDirectory(), 'owner.pat');
  await writeFile(tokenFile, `${token}\n`, { mode: 0o600 });
  const place = { location, database: placeOfLocation(location), url: server.url, tokenFile, token, orgId };
  return { ...place, events: () => events.map(({ event }) => event) };
}
