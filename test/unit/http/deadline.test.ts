import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type CallSignal, callSignal } from '../../../shared/http/deadline.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const pass = (ms: number) => void vi.advanceTimersByTime(ms);
const expired = { code: 'DEADLINE_EXCEEDED' };
const cancelled = { code: 'CANCELLED' };
const ended = new Error('revoked');
const shuttingDown = new Error('shutting down');

/** What happens during a call. */
type During = (call: CallSignal, client: AbortController, shutdown: AbortController) => void;

describe('the signal of a call', () => {
  it.each<[when: string, timeoutMs: number | undefined, during: During, reason: object | undefined]>([
    ['the client leaves', 1_000, (_, client) => client.abort('Client connection prematurely closed.'), cancelled],
    ['its time is over', 999.5, () => pass(1_000), expired],
    ['its time is not over', 999.5, () => pass(999), undefined],
    ['it has no limit', undefined, () => pass(2 ** 30), undefined],
    ["its limit is longer than the longest of Node's timers", 2 ** 40, () => pass(2 ** 30), undefined],
    ['another limit, from the start of the call, is over', 10_000, (call) => passLimited(call, 402), expired],
    ['another limit, from the start of the call, is not over', 10_000, (call) => passLimited(call, 399), undefined],
    ['another limit has passed already', 10_000, (call) => passLimited(call, 1, 100), expired],
    ['an error ends it', 10, (call) => call.end(ended), ended],
    ['the server shuts down', 10, (_, __, shutdown) => shutdown.abort(shuttingDown), shuttingDown],
    ['the client leaves after its time', 10, (_, client) => passThen(10, () => client.abort()), expired],
  ])('has its reason if %s', (_when, timeoutMs, during, reason) => {
    const [client, shutdown] = [new AbortController(), new AbortController()];
    using call = callSignal(client.signal, timeoutMs, shutdown.signal);
    during(call, client, shutdown);
    expect(call.signal.aborted).toBe(reason !== undefined);
    if (reason instanceof Error) expect(call.signal.reason).toBe(reason);
    else if (reason !== undefined) expect(call.signal.reason).toMatchObject(reason);
  });

  it('is aborted from the start if the client has left or the server shuts down', () => {
    using left = callSignal(AbortSignal.abort(), undefined);
    expect(left.signal.reason).toMatchObject(cancelled);
    using late = callSignal(new AbortController().signal, 10, AbortSignal.abort(shuttingDown));
    expect(late.signal.reason).toBe(shuttingDown);
  });

  it('leaves no timer behind, and does not abort when it is disposed of', () => {
    const client = new AbortController();
    const call = callSignal(client.signal, 1_000);
    call.limit(500);
    call[Symbol.dispose]();
    client.abort();
    expect([vi.getTimerCount(), call.signal.aborted]).toEqual([0, false]);
  });
});

it('a call has the time that its last limit leaves it', () => {
  using unlimited = callSignal(new AbortController().signal, undefined);
  using call = callSignal(new AbortController().signal, 10_000);
  pass(600);
  expect([unlimited.msLeft, call.msLeft]).toEqual([undefined, 9_400]);
  call.limit(1_000);
  expect(call.msLeft).toBe(400);
});

function passLimited(call: CallSignal, ms: number, limitMs = 1_000): void {
  pass(600);
  call.limit(limitMs);
  pass(ms);
}

function passThen(ms: number, act: () => void): void {
  pass(ms);
  act();
}
