import { prepend } from '../../shared/async.ts';
import type { AuditedCall } from '../../shared/audit/audit.ts';
import { onlyObjectWritten, responseTooLarge } from '../../shared/errors/errors.ts';
import { objectUri } from '../../shared/errors/storageErrors.ts';
import type { WrittenObject } from '../../shared/objectStorage/objectStorage.ts';
import { recordEnd } from './auditFacts.ts';

/** The resources of a response until its last byte. */
interface ResponseResources {
  /** The resources to dispose of with the last byte, such as the snapshot. */
  readonly held: AsyncDisposable;
  /** Ends the response, even one whose client does not read. */
  readonly signal: AbortSignal;
  /** Puts the response's end on record, before its last byte is sent. */
  readonly audited: Pick<AuditedCall, 'end'>;
}

const HEADERS = { 'content-type': 'application/json' };

/**
 * Creates the response that carries the export file. Without a limit it is streamed; with one, the file is buffered,
 * so that the platform cannot truncate it. An error before the first byte is thrown; a later one closes the connection.
 * @param written the object that already contains the same file
 * @throws IdentityError FAILED_PRECONDITION when the file is larger than `maxBytes`
 */
export async function createExportResponse(
  bytes: AsyncIterable<Uint8Array>,
  maxBytes: number,
  { held, signal, audited }: ResponseResources,
  written?: WrittenObject,
): Promise<Response> {
  const content = withResources(bytes, held);
  if (Number.isFinite(maxBytes)) {
    const file = await collect(content, maxBytes, written);
    signal.throwIfAborted();
    await audited.end();
    // The platform's limit is higher for responses with a content length than for streamed ones.
    return new Response(file, { headers: { ...HEADERS, 'content-length': String(file.size) } });
  }
  const recorded = recordEnd(content, audited);
  const { value } = await recorded.next();
  return new Response(streamUntil(signal, prepend(value ?? new Uint8Array(), recorded), audited), { headers: HEADERS });
}

async function* withResources(
  bytes: AsyncIterable<Uint8Array>,
  held: AsyncDisposable,
): AsyncGenerator<Uint8Array, undefined> {
  await using _held = held;
  yield* bytes;
}

/**
 * Streams the bytes until the signal aborts. The stream fails at once then, also while its reader waits for a client that
 * has stopped reading, so that the connection is closed and buffered bytes are not sent. The reason is on record
 * before the bytes' own end, which may wait for the snapshot.
 */
function streamUntil(
  signal: AbortSignal,
  bytes: AsyncGenerator<Uint8Array>,
  audited: Pick<AuditedCall, 'end'>,
): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        const end = () => {
          controller.error(signal.reason);
          void audited.end(signal.reason);
          void bytes.return(undefined);
        };
        signal.addEventListener('abort', end, { once: true });
      },
      async pull(controller) {
        const { done, value } = await bytes.next();
        if (done === true) controller.close();
        else controller.enqueue(value);
      },
      async cancel() {
        await bytes.return(undefined);
      },
    },
    { highWaterMark: 0 },
  );
}

async function collect(
  bytes: AsyncIterable<Uint8Array>,
  maxBytes: number,
  written: WrittenObject | undefined,
): Promise<Blob> {
  const parts: Uint8Array<ArrayBuffer>[] = [];
  let size = 0;
  for await (const part of bytes) {
    size += part.length;
    if (size > maxBytes)
      throw written === undefined
        ? responseTooLarge({ limit: maxBytes })
        : onlyObjectWritten({ object: objectUri(written), generation: written.generation, limit: maxBytes });
    parts.push(Uint8Array.from(part));
  }
  return new Blob(parts);
}
