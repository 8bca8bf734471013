// The fence of an instance's lock. If the lock can expire, each commit of its holder requires that the fence is
// unchanged.

import { randomInt } from 'node:crypto';
import { instanceLockLost } from '../../errors/storeErrors.ts';
import {
  type DocumentKey,
  type DocumentStore,
  decorateStore,
  documentId,
  type Store,
  type Transaction,
  type TransactionWork,
} from '../store.ts';
import type { Fence, LockRequest } from './instanceLock.ts';

/*
 * The number of documents that contain the epoch and change together. A commit requires one of them. Firestore locks
 * required documents, so all commits would take turns on a single document. With 64 copies, up to four imports with 16
 * commits in flight find a free copy.
 */
const COPIES = 64;

/** The keys of the documents that contain a copy of the epoch. */
export const fenceKeys: readonly DocumentKey[] = Array.from({ length: COPIES }, (_, number) => ({
  collection: 'instance',
  id: documentId('fence', String(number)),
}));

/**
 * Runs work while holding the lock, with a store that commits only while the lock is held.
 * @param work receives the store, and a signal that aborts when the request's signal aborts or the lock is lost
 */
export async function withLock<Result>(
  store: Store,
  request: LockRequest,
  work: (store: Store, signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  await using held = await store.lock.take(request);
  return await work(fencedStore(store, held.fence), whileHeld(request.signal, held.fence));
}

/** Returns a signal that aborts with another signal, or if the lock is lost. */
export function whileHeld(signal: AbortSignal, fence: Fence | undefined): AbortSignal {
  return fence === undefined ? signal : AbortSignal.any([signal, fence.lost]);
}

/** Returns a store that commits only while the fence is unchanged; without a fence, the store itself. */
function fencedStore(store: Store, fence: Fence | undefined): Store {
  return fence === undefined ? store : decorateStore(store, (inner) => fencedDocuments(inner, fence));
}

/** Returns read and write access to documents that commits only while the fence is unchanged. */
export function fencedDocuments(store: DocumentStore, fence: Fence | undefined): DocumentStore {
  if (fence === undefined) return store;
  const transaction: DocumentStore['transaction'] = <Result>(work: TransactionWork<Result>, until?: AbortSignal) =>
    store.transaction<Result>(async (inner, earlier) => {
      const { version, ...copy } = anyCopy(fence);
      // Read the epoch only after a conflict. Until then, commits require the versions from the time when the lock was
      // taken.
      if (earlier.length > 0) await requireEpoch(inner, copy, fence);
      inner.hold([earlier.length > 0 ? copy : { ...copy, version }]);
      return work(inner, earlier);
    }, until);
  return {
    getMany: (keys, fields) => store.getMany(keys, fields),
    commit: (writes) => transaction(async ({ write }) => write(writes)),
    transaction,
  };
}

function anyCopy({ versions }: Fence) {
  const number = randomInt(COPIES);
  const [key, version] = [fenceKeys[number], versions[number]];
  if (key === undefined || version === undefined) throw new Error(`the fence has no copy ${number}`);
  return { ...key, version };
}

async function requireEpoch(transaction: Transaction, copy: DocumentKey, { epoch }: Fence): Promise<void> {
  const [stored] = await transaction.getMany([copy], ['digest']);
  if (stored?.digest !== epoch) throw instanceLockLost();
}
