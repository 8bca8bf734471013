/** What a response adds to the connection at once. */
const CHUNK_BYTES = 64 * 1024;

/**
 * Creates a handler that responds with the same content to everybody. All responses share its bytes, which are loaded by
 * the first request: strangers who ask for it many times, and read none of it, cost no memory.
 */
export function fixedContent(
  headers: Readonly<Record<string, string>>,
  load: () => string | Promise<string | Uint8Array>,
): () => Promise<Response> {
  let loading: Promise<Uint8Array> | undefined;
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
    return new Response(sharedStream(bytes), { headers: { ...headers, 'content-length': String(bytes.byteLength) } });
  };
}

function sharedStream(bytes: Uint8Array): ReadableStream<Uint8Array> {
  let position = 0;
  return new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        controller.enqueue(bytes.subarray(position, position + CHUNK_BYTES));
        position += CHUNK_BYTES;
        if (position >= bytes.byteLength) controller.close();
      },
    },
    { highWaterMark: 0 },
  );
}
