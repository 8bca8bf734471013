import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { untilTaken } from '../../../shared/http/nodeResponse.ts';
import { fixedLimits } from '../../../shared/limits.ts';

const { stallMs } = fixedLimits;
let outgoing: ServerResponse;
let socket: Socket;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  socket = new Socket();
  outgoing = new ServerResponse(new IncomingMessage(socket));
});
afterEach(() => void vi.useRealTimers());

describe('a response that waits for its client', () => {
  it('is kept until its timeout, and aborted then', () => {
    outgoing.assignSocket(socket);
    void untilTaken(outgoing, 'drain', stallMs);
    vi.advanceTimersByTime(stallMs - 1);
    expect(outgoing.destroyed).toBe(false);
    vi.advanceTimersByTime(1);
    expect([outgoing.destroyed, socket.destroyed]).toEqual([true, true]);
  });

  it.each(['drain', 'close'] as const)('is kept after the client has read on: %s', (event) => {
    outgoing.assignSocket(socket);
    void untilTaken(outgoing, 'drain', stallMs);
    outgoing.emit(event);
    expect(vi.getTimerCount()).toBe(0);
    expect([outgoing.listenerCount('drain'), outgoing.listenerCount('close')]).toEqual([0, 0]);
  });

  it('is kept as long as another response has the connection', () => {
    void untilTaken(outgoing, 'drain', stallMs);
    vi.advanceTimersByTime(10 * stallMs);
    expect(outgoing.destroyed).toBe(false);
    outgoing.assignSocket(socket);
    vi.advanceTimersByTime(2 * stallMs);
    expect(outgoing.destroyed).toBe(true);
  });
});
