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
