// Implements the lock of an instance in Firestore with a lease and a fence. Each operation that has the lock is a
// holder of the lease, and renews a document of its own. Each commit checks the fence. Only Firestore's clock decides
// when a lease expires. When another process takes over an expired lease, it changes the fence, so that late commits of
// the earlier holders fail.

import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { SECOND_MS } from '../../clock.ts';
import { defined } from '../../defined.ts';
import { instanceLockLost } from '../../errors/storeErrors.ts';
import { log } from '../../log.ts';
import { type RetryPolicy, retry } from '../../retry.ts';
import type { ExpectedVersions, Version } from '../database.ts';
import { fenceKeys } from '../lock/fence.ts';
import {
  createTake,
  type Fence,
  type HeldLock,
  type InstanceLock,
  type LockHolder,
  type LockRequest,
} from '../lock/instanceLock.ts';
import { type DocumentKey, documentId, documentPath, type Write, WriteConflictError } from '../store.ts';
import { createDeadline } from './call.ts';
import { commit } from './commit.ts';
import { decodeVersion, encodeVersion, type FirestoreConnection } from './firestoreConnection.ts';
import type { Timestamp } from './messages.ts';
import { getDocuments } from './reads.ts';

const POLL_MS = SECOND_MS;
/** The milliseconds after which a process stops trying to release its lease, if the database does not respond. */
const RELEASE_MS = SECOND_MS;
/**
 * The milliseconds after which a lease expires if its process does not renew it. After that, another process can take
 * over the lease.
 */
export const LEASE_MS = 30 * SECOND_MS;
const RENEWALS_PER_LEASE = 3;

const conflictPolicy: RetryPolicy = {
  attempts: (reason) => (reason instanceof WriteConflictError ? Number.POSITIVE_INFINITY : 1),
  initialDelayMs: SECOND_MS / 8,
  maxDelayMs: SECOND_MS,
};

const leaseKey: DocumentKey = { collection: 'instance', id: documentId('lease') };

const leaseSchema = z.object({
  mode: z.enum(['shared', 'alone']),
  epoch: z.string(),
  holders: z.array(z.object({ id: z.string(), operation: z.string(), caller: z.string(), since: z.string() })),
});
type Lease = z.output<typeof leaseSchema>;
type Holder = Lease['holders'][number];

/**
 * Returns the key of a holder's own document. A renewal writes only this document, so that renewals by several holders
 * do not contend.
 */
function holderKey({ id }: Pick<Holder, 'id'>): DocumentKey {
  return { collection: 'instance', id: documentId('lease holder', id) };
}

/**
 * Creates the lock of an instance in Firestore. Only one process at a time can hold the lock exclusively. If a process
 * is suspended, and continues after another process has taken over the lock, its commits fail.
 * @param leaseMs the milliseconds after which a lease expires if it is not renewed; all processes of the instance must
 * use the same value
 */
export function createLease(connection: FirestoreConnection, leaseMs: number): InstanceLock {
  return {
    take: createTake((request) => attempt(connection, request, leaseMs), POLL_MS),
    position: async (signal) => {
      const called = { ...connection, deadline: createDeadline(signal) };
      const { readTime } = await getDocuments(called, [leaseKey], []);
      return encodeVersion(defined({ updateTime: readTime }));
    },
  };
}

async function attempt(
  connection: FirestoreConnection,
  request: LockRequest,
  leaseMs: number,
): Promise<HeldLock | LockHolder> {
  const { operation, caller, signal } = request;
  const called = { ...connection, deadline: createDeadline(signal) };
  const holder = { id: randomUUID(), operation, caller, since: new Date().toISOString() };
  let isSent = false;
  const enter = async () => {
    signal.throwIfAborted();
    const state = await readState(called, leaseMs);
    // If a commit succeeded but its response was lost, the lease already contains `holder`, so do not add it a second
    // time.
    const isEntered = state.lease?.holders.some(({ id }) => id === holder.id);
    const [excluding] = state.live;
    if (isEntered !== true && excluding !== undefined && (request.mode === 'alone' || state.lease?.mode === 'alone'))
      return describe(excluding);
    const lease = isEntered === true && state.lease !== undefined ? state.lease : nextLease(state, request, holder);
    isSent = true;
    if (isEntered !== true) await commit(called, leaseWrites(state, lease, holder), expectedBy(state));
    return hold(connection, holder, await readCopies(called, lease), leaseMs);
  };
  try {
    return await retry(conflictPolicy, enter, signal);
  } catch (error) {
    // The commit may have succeeded although its response was lost. If so, the lease contains `holder`, and would
    // exclude other operations until it expires. So remove `holder`.
    if (isSent) await leave(connection, holder);
    throw error;
  }
}

/**
 * The epoch of the lock, which is a random text, and the versions of the fence's documents, which contain the epoch.
 */
type Copies = Omit<Fence, 'lost'>;

/**
 * Reads the versions of the fence's documents. Call this function after this process has taken the lease.
 * @throws WriteConflictError if another process has taken over the lease in the meantime
 */
async function readCopies(connection: FirestoreConnection, { epoch }: Lease): Promise<Copies> {
  const { documents, versions } = await getDocuments(connection, fenceKeys, ['digest']);
  if (documents.some((copy) => copy?.digest !== epoch))
    throw new WriteConflictError('another process has taken the lease over');
  return { epoch, versions: versions.filter((version) => version !== undefined) };
}

function describe({ operation, caller, since }: Holder): LockHolder {
  return { operation, caller, since };
}

/** The stored lease and its version. `live` holders have renewed the lease in time, `expired` holders have not. */
interface LeaseState {
  readonly lease: Lease | undefined;
  readonly version: Version;
  readonly live: readonly Holder[];
  readonly expired: readonly { readonly holder: Holder; readonly version: Version }[];
}

async function readLease(connection: FirestoreConnection): Promise<Pick<LeaseState, 'lease' | 'version'>> {
  const read = await getDocuments(connection, [leaseKey], ['body']);
  const body = read.documents[0]?.body;
  return {
    lease: body === undefined ? undefined : leaseSchema.parse(JSON.parse(body)),
    version: read.versions[0],
  };
}

async function readState(connection: FirestoreConnection, leaseMs: number): Promise<LeaseState> {
  const { lease, version } = await readLease(connection);
  const holders = lease?.holders ?? [];
  const { versions, readTime } = await getDocuments(connection, holders.map(holderKey), []);
  const withVersions = holders.map((holder, index) => ({ holder, version: versions[index] }));
  const isLive = ({ version: renewed }: { readonly version: Version }) =>
    renewed !== undefined && milliseconds(readTime) - milliseconds(decodeVersion(renewed)) < leaseMs;
  return {
    lease,
    version,
    live: withVersions.filter(isLive).map(({ holder }) => holder),
    expired: withVersions.filter((holder) => !isLive(holder)),
  };
}

function milliseconds(time: Timestamp | undefined): number {
  return Number(time?.seconds ?? 0) * SECOND_MS + (time?.nanos ?? 0) / 1_000_000;
}

/**
 * Returns the lease with a further holder and without the expired holders. Operations that exclude each other never
 * have the same epoch. So if an operation ends, or loses the lock, while its commit is in flight, the epoch of the next
 * operation that it excludes makes that commit fail.
 */
function nextLease({ lease, live }: LeaseState, { mode }: LockRequest, holder: Holder): Lease {
  const isSharedOn = mode === 'shared' && lease?.mode === 'shared';
  return { mode, epoch: isSharedOn ? lease.epoch : randomUUID(), holders: [...live, holder] };
}

/**
 * Returns the writes that store a lease. If the epoch of the lease is new, the same commit changes the epoch in all
 * documents of the fence.
 */
function leaseWrites({ lease, expired }: LeaseState, next: Lease, holder: Holder): Write[] {
  const type = lease === undefined ? 'create' : 'update';
  const fence =
    lease?.epoch === next.epoch ? [] : fenceKeys.map((key): Write => ({ type, key, fields: { digest: next.epoch } }));
  return [
    { type, key: leaseKey, fields: { body: JSON.stringify(next) } },
    { type: 'create', key: holderKey(holder), fields: { sequence: 0 } },
    ...expired.map(({ holder: removed }): Write => ({ type: 'delete', key: holderKey(removed) })),
    ...fence,
  ];
}

/**
 * Returns the versions that a commit of the lease requires. The commit fails if another process has changed the lease,
 * or if a holder that had expired has renewed its document.
 */
function expectedBy({ version, expired }: Pick<LeaseState, 'version' | 'expired'>): ExpectedVersions {
  const holders = expired.map(({ holder, version: renewed }) => ({ key: holderKey(holder), version: renewed }));
  const documents = [{ key: leaseKey, version }, ...holders];
  return new Map(documents.map((document) => [documentPath(document.key), document]));
}

/**
 * Renews a holder's lease until the lock is released or lost. If another process takes over the lease, a renewal fails.
 * Before this process notices it, the fence already makes its commits fail.
 */
function hold(connection: FirestoreConnection, holder: Holder, copies: Copies, leaseMs: number): HeldLock {
  const lost = new AbortController();
  let sequence = 0;
  let isReleased = false;
  const renew = async () => {
    try {
      await commit(connection, [renewal(holder, ++sequence)], new Map());
    } catch (error) {
      // Ignore the failure of a renewal if the lock was released, because the release deletes the document that the
      // renewal writes.
      if (isReleased || lost.signal.aborted) return;
      if (!(error instanceof WriteConflictError)) {
        log.warn({ stack_trace: error }, 'the lock of the instance was not renewed');
        return;
      }
      // The lease had expired, and another process has deleted this holder's document.
      clearInterval(timer);
      lost.abort(instanceLockLost());
    }
  };
  const timer = setInterval(() => void renew(), leaseMs / RENEWALS_PER_LEASE);
  timer.unref();
  return {
    fence: { ...copies, lost: lost.signal },
    [Symbol.asyncDispose]: async () => {
      isReleased = true;
      clearInterval(timer);
      await leave(connection, holder);
    },
  };
}

/**
 * Removes a holder from the lease. If the removal fails, the lease expires later. This does not affect commits that the
 * holder has already made.
 */
async function leave(connection: FirestoreConnection, holder: Holder): Promise<void> {
  const signal = AbortSignal.timeout(RELEASE_MS);
  const called = { ...connection, deadline: createDeadline(signal) };
  await retry(conflictPolicy, () => release(called, holder), signal).catch((error: unknown) => {
    log.warn({ stack_trace: error }, 'the lock of the instance was not released');
  });
}

function renewal(holder: Holder, sequence: number): Write {
  return { type: 'update', key: holderKey(holder), fields: { sequence } };
}

async function release(connection: FirestoreConnection, { id }: Holder): Promise<void> {
  const { lease, version } = await readLease(connection);
  if (lease?.holders.some((holder) => holder.id === id) !== true) return;
  const next = { ...lease, holders: lease.holders.filter((holder) => holder.id !== id) };
  const writes: Write[] = [
    { type: 'update', key: leaseKey, fields: { body: JSON.stringify(next) } },
    { type: 'delete', key: holderKey({ id }) },
  ];
  await commit(connection, writes, expectedBy({ version, expired: [] }));
}
