/**
 * The result of something that cannot be stopped, or the signal's reason as soon as it aborts. A session that is begun
 * too late holds nothing, and expires by itself.
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
 * The same values, until `signal` aborts: then it fails with the signal's reason at once, even where the source would
 * never give another value. The source is told to stop in either case.
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

// A source that is stuck answers neither next() nor return(), so after an abort nobody waits for it, or hears its failure.
async function close(iterator: AsyncIterator<unknown>, signal: AbortSignal): Promise<void> {
  const closed = iterator.return?.();
  if (signal.aborted) closed?.catch(() => {});
  else await closed;
}

/** Runs work one at a time, in the order of its calls. */
export type SerialQueue = <Result>(work: () => Promise<Result>) => Promise<Result>;

/** Creates a queue; work that fails does not block the rest. */
export function createSerialQueue(): SerialQueue {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const result = last.then(work);
    last = result.catch(() => undefined);
    return result;
  };
}
