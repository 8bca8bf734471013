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
