/**
 * Returns the result of a promise whose work cannot be cancelled. If the signal aborts first, throws the signal's
 * reason at once.
 */
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
 * Yields the source's values until `signal` aborts. Then throws the signal's reason at once, even if the source hangs.
 * Closes the source in any case.
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

// If the source hangs, neither next() nor return() settles. So after an abort, do not wait for return(), and ignore its
// failure.
async function close(iterator: AsyncIterator<unknown>, signal: AbortSignal): Promise<void> {
  const closed = iterator.return?.();
  if (signal.aborted) closed?.catch(() => {});
  else await closed;
}

export async function* prepend(start: Uint8Array, iterator: AsyncIterator<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    if (start.length > 0) yield start;
    for (let next = await iterator.next(); next.done !== true; next = await iterator.next()) yield next.value;
  } finally {
    await iterator.return?.();
  }
}

export type SerialQueue = <Result>(work: () => Promise<Result>) => Promise<Result>;

/** Creates a queue that runs one task at a time. A failed task does not prevent later tasks. */
export function createSerialQueue(): SerialQueue {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const result = last.then(work);
    last = result.catch(() => undefined);
    return result;
  };
}

/**
 * Returns a function that runs `work`, but never twice at the same time. If it is called during a run, starts one
 * further run when the current run ends; all calls during the current run share this further run.
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
 * Reads bytes until at least `length` bytes are in memory, or the content ends.
 * @returns `start`, which contains the bytes read; `rest`, which yields the whole content, including the bytes of
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
