import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { onTestFinished, vi } from 'vitest';
import { z } from 'zod';
import type { AuditEvent } from '../../../shared/audit/auditEvent.ts';
import { memoryTrail } from '../audit/memoryTrail.ts';
import { identityJson } from '../command.ts';
import { becomeFunction } from '../emulators/functionAccount.ts';
import { startLocalBucket } from '../emulators/localBucket.ts';
import { startTcpProxy, type TcpProxy } from '../http/tcpProxy.ts';
import { keyEnvironment, type StoreKind, sqlite } from '../stores/stores.ts';
import { databaseOptions, placeOfLocation } from './locations.ts';
import { type ServedPlace, testDirectory } from './servedPlace.ts';
import { serveTransfers, type TransferServer } from './transferServer.ts';

const created = z.object({ token: z.string(), orgId: z.string() });

/** A bucket for transfers of instances that this process serves. */
export interface TransferBucket {
  /** The network between the bucket and all its clients, including the instances. */
  readonly network: TcpProxy;
}

/** Starts a bucket with the account of this process. The bucket stops when the test ends. */
export async function transferBucket(): Promise<TransferBucket> {
  const bucket = await startLocalBucket();
  onTestFinished(() => bucket.close());
  const network = await startTcpProxy(bucket.url);
  onTestFinished(() => network.close());
  becomeFunction(bucket.url);
  onTestFinished(() => void vi.unstubAllEnvs());
  return { network };
}

/** An instance with a bucket for transfers, in this process. Its server stops when the test ends. */
export interface TransferPlace extends ServedPlace {
  /** The names of the events of its audit trail so far. */
  readonly events: () => readonly AuditEvent['event'][];
}

/**
 * Initialises a database, and serves it with a bucket.
 * @param more the kind of its database, and a function that is called when an export begins to write into the bucket
 */
export async function transferPlace(
  { network }: TransferBucket,
  limits: TransferServer['limits'],
  { kind = sqlite, onWrite }: { readonly kind?: StoreKind; readonly onWrite?: () => Promise<void> } = {},
): Promise<TransferPlace> {
  const location = await kind.newLocation();
  const env = keyEnvironment(location);
  for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value);
  const { token, orgId } = created.parse(await identityJson(['init', ...databaseOptions(location)], { env }));
  const { audit, events } = memoryTrail();
  const server = await serveTransfers({ location, limits, bucketUrl: network.url }, audit, onWrite);
  onTestFinished(async () => void (await server.close()));
  const tokenFile = join(await testDirectory(), 'owner.pat');
  await writeFile(tokenFile, `${token}\n`, { mode: 0o600 });
  const place = { location, database: placeOfLocation(location), url: server.url, tokenFile, token, orgId };
  return { ...place, events: () => events.map(({ event }) => event) };
}
