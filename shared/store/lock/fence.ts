// The fence of an instance's lock. If a lock can expire, each commit under the lock requires that the fence has not
// changed.

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
 * The number of documents of the fence, which all contain the same epoch. Each commit requires that one of them has not
 * changed. Firestore locks the required document, so with a single document commits would wait for each other. With 64,
 * up to four imports with 16 commits in flight each can use different documents.
 */
const COPIES = 64;

export const fenceKeys: readonly DocumentKey[] = Array.from({ length: COPIES }, (_, number) => ({
  collection: 'instance',
  id: documentId('fence', String(number)),
}));

/**
 * Runs `work` while this process holds the lock of the instance.
 * @param work receives a store that commits only while the lock is held. The signal aborts if the request's signal
 * aborts or the lock is lost
 */
export async function withLock<Result>(
  store: Store,
  request: LockRequest,
  work: (store: Store, signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  await using held = await store.lock.take(request);
  return await work(fencedStore(store, held.fence), whileHeld(request.signal, held.fence));
}

export function whileHeld(signal: AbortSignal, fence: Fence | undefined): AbortSignal {
  return fence === undefined ? signal : AbortSignal.any([signal, fence.lost]);
}

function fencedStore(store: Store, fence: Fence | undefined): Store {
  return fence === undefined ? store : decorateStore(store, (inner) => fencedDocuments(inner, fence));
}

export function fencedDocuments(store: DocumentStore, fence: Fence | undefined): DocumentStore {
  if (fence === undefined) return store;
  const transaction: DocumentStore['transaction'] = <Result>(work: TransactionWork<Result>, until?: AbortSignal) =>
    store.transaction<Result>(async (inner, earlier) => {
      const { version, ...copy } = anyCopy(fence);
      // The first attempt needs no read, because it requires the versions that the fence had when the lock was
      // acquired. Read the epoch only in a further attempt, after a conflict.
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
