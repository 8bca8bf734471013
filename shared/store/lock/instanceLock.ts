// The lock of an instance: who takes something away runs alone.

import { setTimeout } from 'node:timers/promises';
import { deadlineExceeded } from '../../errors/errors.ts';
import { instanceBusy } from '../../errors/storeErrors.ts';

/** `alone` excludes every other holder; `shared` excludes only those that run alone. */
export type LockMode = 'shared' | 'alone';

/** An operation that holds the lock, as those that wait for it see it. */
export interface LockHolder {
  /** The operation, such as `import`. */
  readonly operation: string;
  /** The id of the calling user, or the account that runs the command. */
  readonly caller: string;
  /** When the operation took the lock; ISO 8601, UTC. */
  readonly since: string;
}

/** A request for the lock. */
export interface LockRequest {
  readonly mode: LockMode;
  readonly operation: string;
  readonly caller: string;
  /** Ends the wait. */
  readonly signal: AbortSignal;
  /** Called when the wait begins, and when it is for another operation. */
  readonly onWait?: ((holder: LockHolder) => void) | undefined;
}

/** The epoch that a holder's commits require, and the versions of its copies. The next holder that excludes it changes them. */
export interface Fence {
  readonly epoch: string;
  readonly versions: readonly string[];
}

/** The lock while an operation holds it. Disposing of it releases it. */
export interface HeldLock extends AsyncDisposable {
  /** What each commit requires; undefined if the operating system guarantees the lock. */
  readonly fence: Fence | undefined;
}

/** The lock of an instance. All implementations pass `test/integration/store/instanceLock.test.ts`. */
export interface InstanceLock {
  /**
   * Takes the lock, in the order of the calls of this process.
   * @throws IdentityError UNAVAILABLE after the call's deadline, and at once if several calls of this process wait; the
   * signal's reason
   */
  take(request: LockRequest): Promise<HeldLock>;
  /** Returns the position of this moment in the database's order of commits, from which a transaction recognises changes. */
  position(signal: AbortSignal): Promise<string>;
}

/** The most calls of a process that wait at once: each may hold a request's body. */
export const MAX_WAITING = 4;

/** Tries to take the lock once; returns a holder that excludes the request, or nothing if it cannot be read yet. */
type Attempt = (request: LockRequest) => Promise<HeldLock | LockHolder | undefined>;

/** Creates the `take` of a lock from attempts, which it repeats for the first request of a queue. */
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
      // The deadline may end a pause or an attempt.
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
      // The next request finds out who holds the lock.
      if (queue[0] === request) blocking = undefined;
      queue.splice(queue.indexOf(request), 1);
      change();
    }
  };
}

/** Whether two descriptions are of the same operation. */
export function isSameHolder(first: LockHolder, second: LockHolder): boolean {
  return first.since === second.since && first.operation === second.operation && first.caller === second.caller;
}

/** Describes a holder whose description cannot be read yet. */
function unknownHolder(): LockHolder {
  return { operation: 'an operation', caller: 'another process', since: new Date().toISOString() };
}

/** Waits for an event of this process, or some time for one of another process. */
async function waitFor(event: Promise<void>, milliseconds: number, signal: AbortSignal): Promise<void> {
  const ended = new AbortController();
  // A timer that lost the race must not keep the process alive.
  const pause = setTimeout(milliseconds, undefined, { signal: AbortSignal.any([signal, ended.signal]) });
  await Promise.race([event, pause.catch(() => undefined)]);
  ended.abort();
}
