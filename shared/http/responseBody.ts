import { setImmediate } from 'node:timers/promises';

const contents = new WeakMap<Response, string | Uint8Array<ArrayBuffer>>();

/** Creates a response whose content is known as a whole, so that the server writes it without reading a stream. */
export function completeResponse(content: string | Uint8Array<ArrayBuffer>, init: ResponseInit): Response {
  const response = new Response(content, init);
  contents.set(response, content);
  return response;
}

/** Creates the complete response of a successful operation. */
export function jsonResponse(value: object): Response {
  return completeResponse(JSON.stringify(value), { headers: { 'content-type': 'application/json' } });
}

/** Returns the content of a complete response as bytes; undefined for one that must be read. */
export function completeContent(response: Response): Uint8Array | undefined {
  const content = contents.get(response);
  return typeof content === 'string' ? Buffer.from(content) : content;
}

/**
 * Creates a handler that responds with the same content to everybody. All responses share its bytes, which are loaded by
 * the first request: strangers who ask for it many times, and read none of it, cost no memory.
 */
export function fixedContent(
  headers: Readonly<Record<string, string>>,
  load: () => string | Promise<string | Uint8Array<ArrayBuffer>>,
): () => Promise<Response> {
  let loading: Promise<Uint8Array<ArrayBuffer>> | undefined;
  const loadBytes = async () => {
    const content = await load();
    return typeof content === 'string' ? Buffer.from(content) : content;
  };
  return async () => {
    loading ??= loadBytes().catch((error: unknown) => {
      loading = undefined;
      throw error;
    });
    const bytes = await loading;
    const init = { headers: { ...headers, 'content-length': String(bytes.byteLength) } };
    const response = new Response(sharedStream(bytes), init);
    contents.set(response, bytes);
    return response;
  };
}

// A Response would copy bytes that it is created from.
function sharedStream(bytes: Uint8Array): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        controller.enqueue(bytes);
        controller.close();
      },
    },
    { highWaterMark: 0 },
  );
}

/** A response body whose first chunk is read. */
export interface ResponseBody {
  /** The length in bytes if the body is complete; undefined if more chunks may follow. */
  readonly length: number | undefined;
  /** The content, if it is known and can be written at once. */
  readonly small?: Uint8Array;
  /** All chunks, including the first. */
  readonly chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
  /** Rejects when the body fails, also while the client does not read. */
  readonly closed?: Promise<unknown>;
}

const SMALL_BYTES = 64 * 1024;

/** Returns a body whose content is known; undefined for none. */
export function completeBody(content: Uint8Array | undefined): ResponseBody {
  if (content === undefined) return { length: 0, chunks: [] };
  const { byteLength: length } = content;
  return { length, chunks: [content], ...(length <= SMALL_BYTES && { small: content }) };
}

/**
 * Reads a response's first chunk before any header is sent, so that an immediate failure can become an error response.
 * Determines the length of a body that is already complete, without waiting for one that is not.
 */
export async function readBodyStart(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<ResponseBody> {
  const first = await reader.read();
  const second = first.done ? Promise.resolve(first) : reader.read();
  const isComplete = await Promise.race([second.then(({ done }) => done), setImmediate(false)]);
  // Iterating `chunks` throws the error; until then it must not count as unhandled.
  second.catch(() => undefined);
  const length = isComplete ? (first.value?.byteLength ?? 0) : undefined;
  return { length, chunks: chain(reader, first, second), closed: reader.closed };
}

type Result = Awaited<ReturnType<ReadableStreamDefaultReader<Uint8Array>['read']>>;

async function* chain(reader: ReadableStreamDefaultReader<Uint8Array>, first: Result, second: Promise<Result>) {
  if (first.done) return;
  yield first.value;
  for (let result = await second; !result.done; result = await reader.read()) yield result.value;
}
