/** Stands for the owner's token until a request is sent, so that a printed one does not contain it. */
export const OWNER = '{owner}';

/** One request, whose head is HTTP. */
export interface HttpRequest {
  readonly method: string;
  readonly target: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body?: Buffer;
  /** The body before it was compressed. */
  readonly plain?: Buffer;
  /** The sizes of the chunks that the body is sent in; without them, it has a Content-Length. */
  readonly chunks?: readonly number[];
}

/** Writes a request as HTTP/1.1. Header values are Latin-1, as on the wire. */
export function toBytes({ method, target, headers, body, chunks }: HttpRequest): Buffer {
  const framing: [string, string][] = [];
  if (chunks !== undefined) framing.push(['Transfer-Encoding', 'chunked']);
  else if (body !== undefined) framing.push(['Content-Length', String(body.length)]);
  const lines = [['Host', 'fuzz'], ...headers, ...framing].map(([name, value]) => `${name}: ${value}`);
  const head = Buffer.from(`${[`${method} ${target} HTTP/1.1`, ...lines].join('\r\n')}\r\n\r\n`, 'latin1');
  const content = body ?? Buffer.of();
  return Buffer.concat([head, chunks === undefined ? content : chunked(content, chunks)]);
}

function chunked(body: Buffer, sizes: readonly number[]): Buffer {
  const parts: Buffer[] = [];
  let position = 0;
  for (let i = 0; position < body.length; i += 1) {
    // Single bytes at first: a large body is then sent in what is left.
    const size = i < 64 ? (sizes[i % sizes.length] ?? 1) : body.length;
    const part = body.subarray(position, position + size);
    parts.push(Buffer.from(`${part.length.toString(16)}\r\n`), part, Buffer.from('\r\n'));
    position += part.length;
  }
  return Buffer.concat([...parts, Buffer.from('0\r\n\r\n')]);
}

/** Puts the token where it belongs. */
export function withToken(bytes: Buffer, token: string): Buffer {
  const at = bytes.indexOf(OWNER);
  if (at === -1) return bytes;
  const rest = withToken(bytes.subarray(at + OWNER.length), token);
  return Buffer.concat([bytes.subarray(0, at), Buffer.from(token), rest]);
}

/** Returns the command that sends bytes again, to an instance at `$PORT` with its owner's token in `$TOKEN`. */
export function resendCommand(bytes: Buffer): string {
  const text = bytes.toString('base64');
  return `base64 -d <<< '${text}' | LC_ALL=C sed "s/${OWNER}/$TOKEN/g" | nc -q 10 127.0.0.1 $PORT`;
}
