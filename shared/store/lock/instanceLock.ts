// The lock of an instance. Operations that delete or replace records hold it exclusively.

import { setTimeout } from 'node:timers/promises';
import { deadlineExceeded } from '../../errors/errors.ts';
import { instanceBusy } from '../../errors/storeErrors.ts';

/** `alone` excludes every other holder; `shared` excludes only holders in mode `alone`. */
export type LockMode = 'shared' | 'alone';

/** Describes an operation that holds the lock, for calls that wait for the lock. */
export interface LockHolder {
  /** The operation, such as `import`. */
  readonly operation: string;
  /** The id of the calling user, or the account that runs the command. */
  readonly caller: string;
  /** The time at which the operation acquired the lock, in ISO 8601 and UTC. */
  readonly since: string;
}

export interface LockRequest {
  readonly mode: LockMode;
  readonly operation: string;
  readonly caller: string;
  /** Ends the wait for the lock. */
  readonly signal: AbortSignal;
  /** Called when the wait begins, and each time that another operation has acquired the lock during the wait. */
  readonly onWait?: ((holder: LockHolder) => void) | undefined;
}

/**
 * The epoch that a holder's commits require, and the versions of its copies. The next exclusive holder changes the
 * copies, so that late commits of this holder fail.
 */
export interface Fence {
  readonly epoch: string;
  readonly versions: readonly string[];
  /** Aborts when this process notices that its own lease has expired and that another process has removed the lease. */
  readonly lost: AbortSignal;
}

/** The lock while an operation holds it. Disposing of it releases the lock. */
export interface HeldLock extends AsyncDisposable {
  /** The fence that each commit requires; undefined if the operating system guarantees the lock. */
  readonly fence: Fence | undefined;
}

/** The lock of an instance. All implementations pass `test/integration/store/instanceLock.test.ts`. */
export interface InstanceLock {
  /**
   * Acquires the lock. Calls of the same process acquire it in the order of the calls.
   * @throws IdentityError UNAVAILABLE after the call's deadline, and at once if too many calls of this process wait;
   * the signal's reason
   */
  take(request: LockRequest): Promise<HeldLock>;
  /**
   * Returns the current position in the database's order of commits. A transaction can detect changes after this
   * position.
   */
  position(signal: AbortSignal): Promise<string>;
}

/** The maximum number of waiting calls of a process. A waiting call can occupy memory with its request's body. */
export const MAX_WAITING = 4;

/**
 * Tries to acquire the lock once. If another holder excludes the request, returns that holder's description, or
 * undefined if the description cannot be read yet.
 */
type Attempt = (request: LockRequest) => Promise<HeldLock | LockHolder | undefined>;

/** Creates the method `take` of a lock. The method repeats the attempt for the first request in its queue. */
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
      // If the deadline has ended the wait, report who holds the lock.
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
      // The next request in the queue must find out again who holds the lock.
      if (queue[0] === request) blocking = undefined;
      queue.splice(queue.indexOf(request), 1);
      change();
    }
  };
}

/** Whether two descriptions are about the same operation. */
export function isSameHolder(first: LockHolder, second: LockHolder): boolean {
  return first.since === second.since && first.operation === second.operation && first.caller === second.caller;
}

/** Returns a description of a holder whose own description cannot be read yet. */
function unknownHolder(): LockHolder {
  return { operation: 'an operation', caller: 'another process', since: new Date().toISOString() };
}

/** Waits for an event of this process, or for a limited time, because other processes send no events. */
async function waitFor(event: Promise<void>, milliseconds: number, signal: AbortSignal): Promise<void> {
  const ended = new AbortController();
  // A timer that lost the race must not keep the process alive.
  const pause = setTimeout(milliseconds, undefined, { signal: AbortSignal.any([signal, ended.signal]) });
  await Promise.race([event, pause.catch(() => undefined)]);
  ended.abort();
}
