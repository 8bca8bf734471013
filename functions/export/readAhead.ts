/**
 * Opens iterables in their order, and asks up to `ahead` of them for their first element before it is their turn, so that
 * many small reads cost one round trip instead of one each. Whatever was begun is closed when the consumer stops.
 */
export async function* readAhead<Element>(
  sources: readonly (() => AsyncIterable<Element>)[],
  ahead: number,
): AsyncGenerator<AsyncIterable<Element>> {
  const begun: Begun<Element>[] = [];
  try {
    for (let index = 0; index < sources.length; index++) {
      for (const source of sources.slice(index + begun.length, index + ahead)) begun.push(begin(source()));
      const next = begun.shift();
      if (next !== undefined) yield rest(next);
    }
  } finally {
    await Promise.all(begun.map(close));
  }
}

interface Begun<Element> {
  readonly iterator: AsyncIterator<Element>;
  readonly first: Promise<IteratorResult<Element>>;
}

function begin<Element>(source: AsyncIterable<Element>): Begun<Element> {
  const iterator = source[Symbol.asyncIterator]();
  const first = iterator.next();
  // A read that fails is told when its turn comes; until then its rejection has an owner.
  first.catch(() => undefined);
  return { iterator, first };
}

async function* rest<Element>({ iterator, first }: Begun<Element>): AsyncGenerator<Element> {
  try {
    for (let result = await first; !result.done; result = await iterator.next()) yield result.value;
  } finally {
    await iterator.return?.();
  }
}

async function close<Element>({ iterator, first }: Begun<Element>): Promise<void> {
  await first.catch(() => undefined);
  await iterator.return?.();
}
