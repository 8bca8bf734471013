// Locks an instance in Firestore with a lease and a fence. The lease expires by the times of Firestore, not of
// processes. The fence changes when another process takes the lease over.

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
/** The time limit for the release of the lease, if the database does not answer. */
const RELEASE_MS = SECOND_MS;
/** If a holder has not renewed its lease for this long, another process can take it. */
export const LEASE_MS = 30 * SECOND_MS;
const RENEWALS_PER_LEASE = 3;

/** The retry policy for conflicts: another process changed the lease at the same time. */
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
 * Returns the key of the document that a holder renews. Each holder has its own document, so that holders do not
 * contend.
 */
function holderKey({ id }: Pick<Holder, 'id'>): DocumentKey {
  return { collection: 'instance', id: documentId('lease holder', id) };
}

/**
 * Creates the lock of the instance in a database. Only one process at a time can hold the lock exclusively, even if
 * another process was suspended and resumed.
 * @param leaseMs the time without a renewal after which a lease expires; the same in all processes of the instance
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
    // If only the response of a commit was lost, the lease already contains this holder.
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
    // The commit may have succeeded although its response was lost. Until it expires, the lease would exclude other
    // holders.
    if (isSent) await leave(connection, holder);
    throw error;
  }
}

/** The epoch of a lease, and the versions of the documents that contain a copy of the epoch. */
type Copies = Omit<Fence, 'lost'>;

/**
 * Reads the documents that contain a copy of the epoch, after this process has taken the lease.
 * @throws WriteConflictError if another process has taken the lease over
 */
async function readCopies(connection: FirestoreConnection, { epoch }: Lease): Promise<Copies> {
  const { documents, versions } = await getDocuments(connection, fenceKeys, ['digest']);
  if (documents.some((copy) => copy?.digest !== epoch))
    throw new WriteConflictError('another process has taken the lease over');
  return { epoch, versions: versions.filter((version) => version !== undefined) };
}

/** Describes a holder, without its id, for calls that wait for the lock. */
function describe({ operation, caller, since }: Holder): LockHolder {
  return { operation, caller, since };
}

/** The lease, its version, and its live and expired holders. */
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
 * Adds a holder to the lease, and removes the expired holders. Holders that exclude each other have different epochs. A
 * holder may end without waiting for a commit that it has sent. The new epoch makes this commit fail.
 */
function nextLease({ lease, live }: LeaseState, { mode }: LockRequest, holder: Holder): Lease {
  const isSharedOn = mode === 'shared' && lease?.mode === 'shared';
  return { mode, epoch: isSharedOn ? lease.epoch : randomUUID(), holders: [...live, holder] };
}

/**
 * Creates the writes that store a lease. If the epoch is new, they also replace all its copies, before the holder's
 * first write.
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
 * Returns the expected versions, so that the commit fails if another process has changed the lease, or if an expired
 * holder has renewed its document.
 */
function expectedBy({ version, expired }: Pick<LeaseState, 'version' | 'expired'>): ExpectedVersions {
  const holders = expired.map(({ holder, version: renewed }) => ({ key: holderKey(holder), version: renewed }));
  const documents = [{ key: leaseKey, version }, ...holders];
  return new Map(documents.map((document) => [documentPath(document.key), document]));
}

/**
 * Renews a holder's document until the lock is released or lost. If another process takes the lease over, the fence
 * makes further commits fail even before a renewal fails.
 */
function hold(connection: FirestoreConnection, holder: Holder, copies: Copies, leaseMs: number): HeldLock {
  const lost = new AbortController();
  let sequence = 0;
  let isReleased = false;
  const renew = async () => {
    try {
      await commit(connection, [renewal(holder, ++sequence)], new Map());
    } catch (error) {
      // Releasing the lock deletes the document, so a renewal that was in flight fails.
      if (isReleased || lost.signal.aborted) return;
      if (!(error instanceof WriteConflictError)) {
        log.warn({ stack_trace: error }, 'the lock of the instance was not renewed');
        return;
      }
      // Another process has removed this holder's document, because its lease has expired.
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

/** Removes a holder from the lease. If this fails, the lease expires. The holder's earlier commits are not affected. */
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
