/**
 * Yields iterables in order and requests the first elements of up to `ahead` of them in advance. Many small reads then
 * share one round trip. Iterables that the consumer never reached are closed when it stops.
 */
export async function* readAhead<Element>(
  sources: readonly (() => AsyncIterable<Element>)[],
  ahead: number,
): AsyncGenerator<AsyncIterable<Element>> {
  const started: StartedRead<Element>[] = [];
  try {
    for (let index = 0; index < sources.length; index++) {
      for (const source of sources.slice(index + started.length, index + ahead)) started.push(start(source()));
      const next = started.shift();
      if (next !== undefined) yield remaining(next);
    }
  } finally {
    await Promise.all(started.map(close));
  }
}

interface StartedRead<Element> {
  readonly iterator: AsyncIterator<Element>;
  readonly first: Promise<IteratorResult<Element>>;
}

function start<Element>(source: AsyncIterable<Element>): StartedRead<Element> {
  const iterator = source[Symbol.asyncIterator]();
  const first = iterator.next();
  // A failed read is reported in its turn; until then this handler prevents an unhandled rejection.
  first.catch(() => undefined);
  return { iterator, first };
}

async function* remaining<Element>({ iterator, first }: StartedRead<Element>): AsyncGenerator<Element> {
  try {
    for (let result = await first; !result.done; result = await iterator.next()) yield result.value;
  } finally {
    await iterator.return?.();
  }
}

async function close<Element>({ iterator, first }: StartedRead<Element>): Promise<void> {
  await first.catch(() => undefined);
  await iterator.return?.();
}
