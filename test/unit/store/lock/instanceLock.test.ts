import { expect, it } from 'vitest';
import { deadlineExceeded } from '../../../../shared/errors/errors.ts';
import { cancelled } from '../../../../shared/errors/httpErrors.ts';
import { createTake, type LockHolder } from '../../../../shared/store/lock/instanceLock.ts';

const holder: LockHolder = { operation: 'rekey', caller: 'root', since: '2026-01-02T03:04:05.678Z' };

/** Takes a lock whose call ends in the second attempt, before which the first one has found a holder or failed. */
function takeUntil(first: LockHolder | Error, end: Error): Promise<unknown> {
  const controller = new AbortController();
  let attempts = 0;
  const attempt = async () => {
    if (++attempts === 1 && !(first instanceof Error)) return first;
    controller.abort(end);
    throw end;
  };
  return createTake(attempt, 1)({ mode: 'alone', operation: 'import', caller: 'U', signal: controller.signal });
}

it('a call whose deadline ends an attempt names the holder that it has waited for', async () => {
  await expect(takeUntil(holder, deadlineExceeded())).rejects.toMatchObject({
    reason: 'INSTANCE_BUSY',
    httpStatus: 503,
    retryAfterSeconds: 30,
    message:
      'rekey, which root began at 2026-01-02T03:04:05.678Z, must end before this call can begin: retry the request later',
  });
});

it('a call that waits names each holder once, in the order in which they exclude it', async () => {
  const other = { ...holder, operation: 'import', since: '2026-01-02T03:05:00.000Z' };
  const found = [holder, undefined, holder, other, undefined, other];
  const controller = new AbortController();
  const taken = createTake(async () => {
    if (found.length === 0) controller.abort(deadlineExceeded());
    return found.shift();
  }, 1);
  const named: LockHolder[] = [];
  const { signal } = controller;
  const onWait = (excluding: LockHolder) => void named.push(excluding);
  await expect(taken({ mode: 'alone', operation: 'import', caller: 'U', signal, onWait })).rejects.toThrow(/^import, /);
  expect(named).toEqual([holder, other]);
});

it('a call whose holder cannot be read waits for another process', async () => {
  const controller = new AbortController();
  const taken = createTake(async () => undefined, 1);
  const named: LockHolder[] = [];
  const { signal } = controller;
  const onWait = (excluding: LockHolder) => {
    named.push(excluding);
    setImmediate(() => controller.abort(cancelled()));
  };
  await expect(taken({ mode: 'alone', operation: 'import', caller: 'U', signal, onWait })).rejects.toThrow();
  expect(named).toMatchObject([{ operation: 'an operation', caller: 'another process' }]);
});

it('a call whose first attempt lasts until the deadline has seen no holder, and names none', async () => {
  await expect(takeUntil(new Error('no holder'), deadlineExceeded())).rejects.toMatchObject({ httpStatus: 504 });
});

it('a call whose client leaves during an attempt ends with that', async () => {
  await expect(takeUntil(holder, cancelled())).rejects.toMatchObject({ reason: 'CANCELLED' });
});
