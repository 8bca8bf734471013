import { once } from 'node:events';
import { type IncomingHttpHeaders, request } from 'node:http';
import { buffer } from 'node:stream/consumers';

/** One frame of gRPC or gRPC-Web: its flags and its content. */
export interface Frame {
  readonly flags: number;
  readonly data: Buffer;
}

/** Splits bytes into frames. */
export function framesOf(bytes: Buffer): Frame[] {
  if (bytes.length === 0) return [];
  const end = 5 + bytes.readUInt32BE(1);
  return [{ flags: bytes.readUInt8(0), data: bytes.subarray(5, end) }, ...framesOf(bytes.subarray(end))];
}

/** Frames a message. */
export function frame(flags: number, data: Uint8Array): Buffer<ArrayBuffer> {
  const head = Buffer.alloc(5);
  head.writeUInt8(flags);
  head.writeUInt32BE(data.length, 1);
  return Buffer.concat([head, data]);
}

/** A response over HTTP/1.1, read completely. */
interface Http1Answer {
  readonly status: number | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  readonly trailers: NodeJS.Dict<string>;
}

/** Sends a request over HTTP/1.1 with Node's own client, which returns trailers. */
export async function requestWithTrailers(
  method: string,
  url: string,
  headers: Readonly<Record<string, string>>,
): Promise<Http1Answer> {
  const sent = request(url, { method, headers });
  const responded = once(sent, 'response');
  sent.end();
  const [response] = await responded;
  const body = await buffer(response);
  return { status: response.statusCode, headers: response.headers, body, trailers: response.trailers };
}
