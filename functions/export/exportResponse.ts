import { responseTooLarge } from '../../shared/errors/errors.ts';

/** What a response holds open until its last byte is sent. */
type Held = readonly [Disposable, AsyncDisposable];

const HEADERS = { 'content-type': 'application/json' };

/**
 * The document as a response. It is streamed, unless there is a limit: then it is held back until it is complete, so
 * that nobody gets a document cut off by the platform. An error before the first bytes is thrown; a later one breaks the
 * connection off.
 * @throws IdentityError FAILED_PRECONDITION when it is larger than `maxBytes`
 */
export async function exportResponse(
  bytes: AsyncIterable<Uint8Array>,
  maxBytes: number | undefined,
  held: Held,
): Promise<Response> {
  const content = heldOpen(bytes, held);
  if (maxBytes !== undefined) {
    const whole = await collect(content, maxBytes);
    // The platform takes more of an answer whose length it knows than of one that is streamed.
    return new Response(whole, { headers: { ...HEADERS, 'content-length': String(whole.size) } });
  }
  const first = await content.next();
  return new Response(ReadableStream.from(after(first, content)), { headers: HEADERS });
}

async function* heldOpen(bytes: AsyncIterable<Uint8Array>, [call, snapshot]: Held): AsyncGenerator<Uint8Array> {
  using _call = call;
  await using _snapshot = snapshot;
  yield* bytes;
}

async function* after(first: IteratorResult<Uint8Array>, rest: AsyncGenerator<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    if (!first.done) yield first.value;
    yield* rest;
  } finally {
    await rest.return(undefined);
  }
}

async function collect(bytes: AsyncIterable<Uint8Array>, maxBytes: number): Promise<Blob> {
  const parts: Uint8Array<ArrayBuffer>[] = [];
  let size = 0;
  for await (const part of bytes) {
    size += part.length;
    if (size > maxBytes) throw responseTooLarge(maxBytes);
    parts.push(Uint8Array.from(part));
  }
  return new Blob(parts);
}
