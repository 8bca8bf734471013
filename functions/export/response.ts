import { prepend } from '../../shared/async.ts';
import type { AuditedCall } from '../../shared/audit/audit.ts';
import { recordEnd } from './auditFacts.ts';

interface ResponseResources {
  /** Resources to dispose of after the last byte, such as the snapshot. */
  readonly held: AsyncDisposable;
  /** When the signal aborts, the response ends, even if the client has stopped reading. */
  readonly signal: AbortSignal;
  /** Records the end of the call in the audit trail, before the last byte is sent. */
  readonly audited: Pick<AuditedCall, 'end'>;
  /**
   * Called if the file is larger than a response may be. Creates a response that redirects the client to the file.
   * Before it returns, calls `end`, which records the end of the call in the audit trail.
   */
  readonly redirect: (file: AsyncIterable<Uint8Array>, end: () => Promise<void>) => Promise<Response>;
}

const HEADERS = { 'content-type': 'application/json' };

/**
 * Creates the response with the export file. Without a limit, streams the file. With a limit, buffers the file, so that
 * the platform cannot truncate the response. If the file exceeds the limit, redirects the client to a stored copy.
 * Throws errors that occur before the first byte; a later error closes the connection.
 */
export async function createExportResponse(
  bytes: AsyncIterable<Uint8Array>,
  maxBytes: number,
  { held, signal, audited, redirect }: ResponseResources,
): Promise<Response> {
  if (Number.isFinite(maxBytes)) {
    // Keep the resources until a redirect is complete. They include the call's signal, which must be able to stop the
    // redirect.
    await using _held = held;
    await using content = read(bytes);
    const { parts, isWhole } = await hold(content, maxBytes);
    const end = async () => {
      signal.throwIfAborted();
      await audited.end();
    };
    if (!isWhole) return await redirect(join(parts, content), end);
    await end();
    return bufferedResponse(parts);
  }
  const recorded = recordEnd(withResources(bytes, held), audited);
  const { value } = await recorded.next();
  return new Response(streamUntil(signal, prepend(value ?? new Uint8Array(), recorded), audited), { headers: HEADERS });
}

async function* read(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, undefined> {
  yield* bytes;
}

async function* withResources(
  bytes: AsyncIterable<Uint8Array>,
  held: AsyncDisposable,
): AsyncGenerator<Uint8Array, undefined> {
  await using _held = held;
  yield* read(bytes);
}

/**
 * Streams the bytes until the signal aborts. Then the stream fails at once, even if the client has stopped reading. The
 * connection closes, and buffered bytes are not sent. The audit trail receives the reason before the generator `bytes`
 * is ended, because ending it may wait for the snapshot.
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

interface HeldFile {
  readonly parts: Uint8Array<ArrayBuffer>[];
  readonly isWhole: boolean;
}

async function hold(content: AsyncIterator<Uint8Array>, maxBytes: number): Promise<HeldFile> {
  const parts: Uint8Array<ArrayBuffer>[] = [];
  for (let size = 0; size <= maxBytes; ) {
    const { done, value } = await content.next();
    if (done === true) return { parts, isWhole: true };
    parts.push(Uint8Array.from(value));
    size += value.length;
  }
  return { parts, isWhole: false };
}

function bufferedResponse(parts: Uint8Array<ArrayBuffer>[]): Response {
  const file = new Blob(parts);
  // The platform permits larger responses if they have the header `content-length`.
  return new Response(file, { headers: { ...HEADERS, 'content-length': String(file.size) } });
}

/** Yields the parts, and removes each from memory. Then yields the rest. */
async function* join(parts: Uint8Array[], rest: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for (let part = parts.shift(); part !== undefined; part = parts.shift()) yield part;
  yield* rest;
}
