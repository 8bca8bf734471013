import { once } from 'node:events';
import { type ClientHttp2Stream, connect, type IncomingHttpHeaders } from 'node:http2';
import { Duplex } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import type { WireResponse } from './responseReader.ts';

/** What a server has sent on a connection of HTTP/2. */
export interface Received {
  /** The responses by the place of their requests; undefined where none came, or not all of it. */
  readonly responses: readonly (WireResponse | undefined)[];
  /** Why the bytes are none of HTTP/2. */
  readonly problem: string | undefined;
}

/**
 * Reads responses off all bytes that a server has sent on a connection: by Node's client, which has opened as many streams,
 * but whose own bytes nobody gets.
 */
export async function readFrames(bytes: Buffer, methods: readonly string[]): Promise<Received> {
  const wire = new Duplex({ read: () => undefined, write: (_chunk, _encoding, done) => done() });
  const session = connect('http://fuzz', { createConnection: () => wire });
  let problem: string | undefined;
  session.on('error', (error: NodeJS.ErrnoException) => {
    // What the server has told, and the end of all bytes, are no faults of theirs.
    if (!['ERR_HTTP2_SESSION_ERROR', 'ERR_HTTP2_STREAM_CANCEL'].includes(error.code ?? '')) problem = error.message;
  });
  await once(session, 'connect');
  const reading = methods.map((method) => read(session.request({ ':method': method, ':path': '/' })));
  const { promise: closed, resolve } = Promise.withResolvers<void>();
  session.once('close', resolve);
  // A response to a stream that is not open yet is none.
  while (Number(session.state.outboundQueueSize) > 0) await setImmediate();
  wire.push(framesOfStreams(bytes));
  wire.push(null);
  await closed;
  return { responses: reading.map((take) => take()), problem };
}

const [DATA, HEADERS, RST_STREAM, SETTINGS, PING, GOAWAY] = [0, 1, 3, 4, 6, 7] as const;
/** `END_STREAM` where a frame has content, `ACK` where it is a setting or a ping. */
const FLAG = 1;

/** Whether a server has ended so many streams, or the connection. */
export function areEnded(bytes: Buffer, streams: number): boolean {
  let ended = 0;
  for (const { type, flags } of framesIn(bytes)) {
    if (type === GOAWAY) return true;
    if (type === RST_STREAM || ((type === DATA || type === HEADERS) && (flags & FLAG) !== 0)) ended++;
  }
  return ended >= streams;
}

/**
 * Leaves out what confirms frames that this client has not sent, and what ends the connection: of a client that breaks the
 * protocol while its streams end, Node takes leave twice, the second time with a later stream.
 */
function framesOfStreams(bytes: Buffer): Buffer {
  const kept = framesIn(bytes).filter(({ type, flags }) => {
    return type !== GOAWAY && ((type !== SETTINGS && type !== PING) || flags !== FLAG);
  });
  return Buffer.concat(kept.map(({ frame }) => frame));
}

function framesIn(bytes: Buffer) {
  const frames: { readonly type: number; readonly flags: number; readonly frame: Buffer }[] = [];
  for (let start = 0; start + 9 <= bytes.length; ) {
    const end = start + 9 + bytes.readUIntBE(start, 3);
    const [type = 0, flags = 0] = bytes.subarray(start + 3);
    frames.push({ type, flags, frame: bytes.subarray(start, end) });
    start = end;
  }
  return frames;
}

/** Collects what comes on a stream. Returns what gives the response, if it is whole. */
function read(stream: ClientHttp2Stream): () => WireResponse | undefined {
  const got: { head?: IncomingHttpHeaders; trailers?: IncomingHttpHeaders; isWhole?: boolean } = {};
  const parts: Buffer[] = [];
  stream.on('error', () => undefined);
  stream.once('response', (head) => Object.assign(got, { head }));
  stream.once('trailers', (trailers) => Object.assign(got, { trailers }));
  stream.on('data', (part: Buffer) => parts.push(part));
  stream.once('end', () => Object.assign(got, { isWhole: !stream.aborted && stream.rstCode === 0 }));
  return () => {
    const { head, trailers = {}, isWhole } = got;
    if (head === undefined || isWhole !== true) return undefined;
    const status = Number(head[':status']);
    return { status, headers: toHeaders(head), body: Buffer.concat(parts), trailers: toHeaders(trailers) };
  };
}

/** The fields of a response, without those of HTTP/2 itself. */
export function toHeaders(fields: IncomingHttpHeaders): Headers {
  const entries = Object.entries(fields).filter(([name]) => !name.startsWith(':'));
  return new Headers(entries.map(([name, value]): [string, string] => [name, String(value)]));
}
