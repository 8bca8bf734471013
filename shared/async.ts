// Helpers for promises, queues and cancellation.

/** Returns the result of work that cannot be cancelled. As soon as the signal aborts, throws its reason instead. */
export async function raceAbort<T>(pending: Promise<T>, signal: AbortSignal): Promise<T> {
  const aborted = Promise.withResolvers<never>();
  const onAbort = () => aborted.reject(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  if (signal.aborted) onAbort();
  try {
    return await Promise.race([pending, aborted.promise]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

/**
 * Yields the source's values until `signal` aborts, then throws the signal's reason immediately, even if the source
 * hangs. Closes the source in either case.
 */
export async function* untilAborted<T>(source: AsyncIterable<T>, signal: AbortSignal): AsyncGenerator<T, void, void> {
  const iterator = source[Symbol.asyncIterator]();
  let interrupt: (reason: unknown) => void = () => {};
  const onAbort = () => interrupt(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  let ended = false;
  try {
    for (;;) {
      signal.throwIfAborted();
      const next = await new Promise<IteratorResult<T>>((resolve, reject) => {
        interrupt = reject;
        iterator.next().then(resolve, (reason: unknown) => {
          ended = true;
          reject(reason);
        });
      });
      ended = next.done === true;
      if (next.done === true) return;
      yield next.value;
    }
  } finally {
    signal.removeEventListener('abort', onAbort);
    if (!ended) await close(iterator, signal);
  }
}

// If a source hangs, neither next() nor return() settles. After an abort, do not wait for the source, and ignore its
// failure.
async function close(iterator: AsyncIterator<unknown>, signal: AbortSignal): Promise<void> {
  const closed = iterator.return?.();
  if (signal.aborted) closed?.catch(() => {});
  else await closed;
}

/** Yields bytes that were read already, then the iterator's remaining bytes. */
export async function* prepend(start: Uint8Array, iterator: AsyncIterator<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    if (start.length > 0) yield start;
    for (let next = await iterator.next(); next.done !== true; next = await iterator.next()) yield next.value;
  } finally {
    await iterator.return?.();
  }
}

/** A function that runs one piece of work at a time, in the order of the calls. */
export type SerialQueue = <Result>(work: () => Promise<Result>) => Promise<Result>;

/** Creates a queue in which a failure does not block later work. */
export function createSerialQueue(): SerialQueue {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const result = last.then(work);
    last = result.catch(() => undefined);
    return result;
  };
}

/**
 * Returns a function that runs `work`, one run at a time. All calls during a run share one further run, which begins
 * when the current run ends.
 */
export function shareRuns(work: () => Promise<void>): () => Promise<void> {
  const enqueue = createSerialQueue();
  let next: Promise<void> | undefined;
  return () => {
    next ??= enqueue(() => {
      next = undefined;
      return work();
    });
    return next;
  };
}

export async function* once<T>(value: T): AsyncGenerator<T, void, void> {
  yield value;
}

/**
 * Reads the first bytes of the content.
 * @returns in `start`, at least `length` bytes unless the content is shorter; in `rest`, all bytes including those of
 * `start`
 */
export async function readStart(
  content: AsyncIterable<Uint8Array>,
  length: number,
): Promise<{ readonly start: Buffer; readonly rest: AsyncGenerator<Uint8Array> }> {
  const iterator = content[Symbol.asyncIterator]();
  let start: Buffer = Buffer.alloc(0);
  while (start.length < length) {
    const { done, value } = await iterator.next();
    if (done === true) break;
    start = Buffer.concat([start, value]);
  }
  return { start, rest: prepend(start, iterator) };
}
