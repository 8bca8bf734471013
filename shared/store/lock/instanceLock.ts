// Operations that delete or replace records hold the lock of the instance exclusively.

import { setTimeout } from 'node:timers/promises';
import { deadlineExceeded } from '../../errors/errors.ts';
import { instanceBusy } from '../../errors/storeErrors.ts';

/**
 * In mode `alone`, the lock excludes all other operations; in mode `shared`, it excludes only operations in mode
 * `alone`.
 */
export type LockMode = 'shared' | 'alone';

/** Describes an operation that holds the lock, for the calls that wait for the lock. */
export interface LockHolder {
  readonly operation: string;
  /** The id of the calling user, or the operating system account that runs the command. */
  readonly caller: string;
  /** The time at which the operation began to hold the lock; ISO 8601, UTC. */
  readonly since: string;
}

export interface LockRequest {
  readonly mode: LockMode;
  readonly operation: string;
  readonly caller: string;
  readonly signal: AbortSignal;
  /** Called when the request begins to wait, and whenever another operation acquires the lock during the wait. */
  readonly onWait?: ((holder: LockHolder) => void) | undefined;
}

/**
 * The documents of the fence contain the lock's epoch. Each commit under the lock requires that such a document still
 * has its version or, after a conflict, still contains the epoch. The next operation that excludes the present
 * operation changes these documents, so that late commits of the present operation fail.
 */
export interface Fence {
  readonly epoch: string;
  readonly versions: readonly string[];
  /** Aborts when this process notices that its lease has expired, and that another process has removed this lease. */
  readonly lost: AbortSignal;
}

/** Disposing of this object releases the lock. */
export interface HeldLock extends AsyncDisposable {
  /** The fence that each commit must check; undefined if the operating system guarantees the lock. */
  readonly fence: Fence | undefined;
}

/** Each implementation must pass `test/integration/store/instanceLock.test.ts`. */
export interface InstanceLock {
  /**
   * Acquires the lock. Calls in the same process acquire the lock in the order in which they asked.
   * @throws IdentityError UNAVAILABLE at the call's deadline, and at once if too many calls of this process wait; the
   * signal's reason if the signal aborts
   */
  take(request: LockRequest): Promise<HeldLock>;
  /**
   * Returns the present position in the order of the database's commits. All commits so far are at or before this
   * position. With it, a later transaction can find the documents that have changed since.
   */
  position(signal: AbortSignal): Promise<string>;
}

/** The maximum number of calls of a process that wait for the lock. Each may keep a request body in memory. */
export const MAX_WAITING = 4;

/**
 * Tries once to acquire the lock. If an operation excludes the request, returns the description of that operation, or
 * undefined if the description cannot be read yet.
 */
type Attempt = (request: LockRequest) => Promise<HeldLock | LockHolder | undefined>;

/**
 * Creates a function that acquires the lock. Requests wait in a queue. The first request in the queue repeats the
 * attempt until it succeeds.
 */
export function createTake(attempt: Attempt, pollMs: number): InstanceLock['take'] {
  const queue: LockRequest[] = [];
  let blocking: LockHolder | undefined;
  let changed = Promise.withResolvers<void>();
  const change = () => {
    changed.resolve();
    changed = Promise.withResolvers();
  };
  const take = async (request: LockRequest): Promise<HeldLock> => {
    let excluding: LockHolder | undefined;
    try {
      for (;;) {
        request.signal.throwIfAborted();
        const wake = changed.promise;
        if (queue[0] === request) {
          const taken = await attempt(request);
          if (taken !== undefined && 'fence' in taken) {
            blocking = undefined;
            return taken;
          }
          const next = taken ?? blocking ?? unknownHolder();
          if (blocking === undefined || !isSameHolder(blocking, next)) change();
          blocking = next;
        }
        if (blocking !== undefined) {
          if (queue.indexOf(request) >= MAX_WAITING) throw instanceBusy({ ...blocking });
          if (excluding === undefined || !isSameHolder(excluding, blocking)) request.onWait?.(blocking);
          excluding = blocking;
        }
        await waitFor(wake, pollMs, request.signal);
      }
    } catch (error) {
      // If the wait ended at the deadline, the error describes the operation that holds the lock.
      throw excluding !== undefined && deadlineExceeded.is(error) ? instanceBusy({ ...excluding }) : error;
    }
  };
  return async (request) => {
    queue.push(request);
    try {
      const held = await take(request);
      return {
        fence: held.fence,
        [Symbol.asyncDispose]: async () => {
          await held[Symbol.asyncDispose]();
          change();
        },
      };
    } finally {
      // Forget the description, because another operation may hold the lock when the next request in the queue begins
      // its attempts.
      if (queue[0] === request) blocking = undefined;
      queue.splice(queue.indexOf(request), 1);
      change();
    }
  };
}

export function isSameHolder(first: LockHolder, second: LockHolder): boolean {
  return first.since === second.since && first.operation === second.operation && first.caller === second.caller;
}

/** Returns a general description while the description of the operation that holds the lock cannot be read. */
function unknownHolder(): LockHolder {
  return { operation: 'an operation', caller: 'another process', since: new Date().toISOString() };
}

/**
 * Waits until the lock or its queue changes in this process, but only for a limited time, because this process receives
 * no event when another process releases the lock.
 */
async function waitFor(event: Promise<void>, milliseconds: number, signal: AbortSignal): Promise<void> {
  const ended = new AbortController();
  // Stop the timer after the event, because a running timer would keep the process alive.
  const pause = setTimeout(milliseconds, undefined, { signal: AbortSignal.any([signal, ended.signal]) });
  await Promise.race([event, pause.catch(() => undefined)]);
  ended.abort();
}
