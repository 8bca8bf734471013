const textType = /^application\/grpc-web-text(\+proto)?$/i;

/** Whether a content type is gRPC-Web's for clients that cannot read bytes: the same frames in base64. */
export function isGrpcWebText(contentType: string): boolean {
  return textType.test(contentType);
}

/** The bytes of a base64 text that arrives in pieces. */
export async function* fromBase64(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let rest = '';
  for await (const chunk of chunks) {
    const text = rest + Buffer.from(chunk).toString('latin1');
    const whole = text.length - (text.length % 4);
    rest = text.slice(whole);
    yield Buffer.from(text.slice(0, whole), 'base64');
  }
  if (rest !== '') yield Buffer.from(rest, 'base64');
}

/** The flag of a frame that holds trailers, uncompressed; a length of four bytes follows it. */
const trailersFlag = 0x80;

/** The trailers of an answer that has no message before them; undefined where there is one. */
export function trailersAlone(body: Buffer): Headers | undefined {
  if (body[0] !== trailersFlag) return undefined;
  const lines = body.toString('latin1', 5).split('\r\n').filter(Boolean);
  return new Headers(
    lines.map((line): [string, string] => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon), line.slice(colon + 1).trim()];
    }),
  );
}
