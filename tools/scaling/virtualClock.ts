import { setImmediate } from 'node:timers/promises';
import type { Clock } from '../../shared/clock.ts';

interface Timer {
  readonly at: number;
  readonly wake: () => void;
}

/** A clock whose time passes only while all work waits for it, so that hours take seconds. */
export class VirtualClock implements Clock {
  #now = 0;
  /** The next one last. */
  readonly #timers: Timer[] = [];

  now(): number {
    return this.#now;
  }

  async sleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#insert({ at: this.#now + Math.max(0, milliseconds), wake: resolve });
    await promise;
    signal?.throwIfAborted();
  }

  /**
   * Lets time pass until some work is done.
   * @throws the work's error; Error if it waits for something else than the time
   */
  async run<Result>(work: Promise<Result>): Promise<Result> {
    let isDone = false;
    const end = () => {
      isDone = true;
    };
    work.then(end, end);
    for (;;) {
      // All work goes on until it waits.
      await setImmediate();
      if (isDone) return work;
      const next = this.#timers.pop();
      if (next === undefined) throw new Error('the work waits for something else than the time');
      this.#now = next.at;
      next.wake();
    }
  }

  #insert(timer: Timer): void {
    let index = this.#timers.length;
    while (index > 0 && (this.#timers[index - 1]?.at ?? 0) <= timer.at) index--;
    this.#timers.splice(index, 0, timer);
  }
}
