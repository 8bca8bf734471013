import { setImmediate as nextRound } from 'node:timers/promises';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { chunksInTurns, isAttended, noteRequest, yieldToEventLoop } from '../../shared/turns.ts';

/** Counts the rounds of the event loop until `work` has ended. */
async function roundsOf(work: Promise<unknown>): Promise<number> {
  let [rounds, isOver] = [0, false];
  const over = work.then(() => {
    isOver = true;
  });
  for (; !isOver; rounds++) await nextRound();
  await over;
  return rounds;
}

async function turns(name: string, count: number, order: string[]): Promise<void> {
  for (let turn = 0; turn < count; turn++) {
    await yieldToEventLoop();
    order.push(name);
  }
}

describe('bulk work', () => {
  it('has one turn in each round of the event loop, however much of it there is', async () => {
    const order: string[] = [];
    const work = Promise.all(['a', 'b', 'c', 'd'].map((name) => turns(name, 5, order)));
    expect(await roundsOf(work)).toBeGreaterThanOrEqual(20);
    expect(order).toEqual(Array.from({ length: 5 }, () => ['a', 'b', 'c', 'd']).flat());
  });

  it('begins again after a pause', async () => {
    const order: string[] = [];
    await turns('a', 2, order);
    await nextRound();
    await turns('b', 2, order);
    expect(order).toEqual(['a', 'a', 'b', 'b']);
  });
});

describe('a process', () => {
  afterEach(() => vi.useRealTimers());

  it('prefers requests for a quarter of a second after each one', () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    noteRequest();
    vi.advanceTimersByTime(10_000);
    expect(isAttended()).toBe(false);
    noteRequest();
    vi.advanceTimersByTime(249);
    expect(isAttended()).toBe(true);
    noteRequest();
    vi.advanceTimersByTime(249);
    expect(isAttended()).toBe(true);
    vi.advanceTimersByTime(1);
    expect(isAttended()).toBe(false);
  });
});

describe('the chunks of a file', () => {
  afterEach(() => vi.useRealTimers());

  async function* chunks() {
    yield Buffer.alloc(40_000, 'a');
    yield Buffer.alloc(10_000, 'b');
  }

  const sizes = async () => {
    const parts: Uint8Array[] = [];
    for await (const part of chunksInTurns(chunks())) parts.push(part);
    expect(Buffer.concat(parts).equals(Buffer.from('a'.repeat(40_000) + 'b'.repeat(10_000)))).toBe(true);
    return parts.map(({ byteLength }) => byteLength);
  };

  it('are handled in small parts while requests arrive, and whole otherwise', async () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    noteRequest();
    expect(await sizes()).toEqual([16_384, 16_384, 7_232, 10_000]);
    vi.advanceTimersByTime(1_000);
    expect(await sizes()).toEqual([40_000, 10_000]);
  });
});
