import { once } from 'node:events';
import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect,
  type IncomingHttpHeaders,
  type Settings,
} from 'node:http2';
import { connect as connectSocket } from 'node:net';

/** A request over HTTP/2. `headers` may also contain pseudo headers. */
export interface Http2Request {
  readonly method?: string;
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
}

/** A response over HTTP/2, read completely. */
export interface Http2Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly trailers: IncomingHttpHeaders;
  /** The error code with which the stream ended. */
  readonly resetCode: number | undefined;
}

/**
 * Opens a connection with prior knowledge of HTTP/2.
 * @param settings the client's settings, such as a window size of 0
 */
export async function connectHttp2(url: string, settings: Settings = {}): Promise<ClientHttp2Session> {
  const session = beginHttp2(url, settings);
  await once(session, 'connect');
  return session;
}

/** Begins a connection. As soon as it is open, it sends all requests that were added until then. */
export function beginHttp2(url: string, settings: Settings = {}): ClientHttp2Session {
  const { hostname, port } = new URL(url);
  const createConnection = () => connectSocket({ host: hostname, port: Number(port) });
  return connect(url, { settings, createConnection });
}

/** Opens a stream without ending it. */
export function openStream(session: ClientHttp2Session, { method = 'GET', path, headers }: Http2Request) {
  const named = path === undefined ? {} : { ':path': path };
  return session.request({ ':method': method, ...named, ...headers }, { endStream: false });
}

/** Reads the response of a stream until it closes for any reason. */
export async function readStream(stream: ClientHttp2Stream): Promise<Http2Answer> {
  const answer = { status: 0, headers: {}, body: '', trailers: {} };
  stream.once('response', (headers) => Object.assign(answer, { headers, status: headers[':status'] }));
  stream.once('trailers', (trailers) => Object.assign(answer, { trailers }));
  stream.on('data', (chunk) => {
    answer.body += String(chunk);
  });
  stream.on('error', () => undefined);
  const { promise, resolve } = Promise.withResolvers<void>();
  stream.once('close', resolve);
  await promise;
  return { ...answer, resetCode: stream.rstCode };
}

/** Sends a request on a separate connection. */
export async function requestHttp2(url: string, request: Http2Request): Promise<Http2Answer> {
  const session = await connectHttp2(url);
  try {
    const stream = openStream(session, request);
    stream.end(request.body);
    return await readStream(stream);
  } finally {
    session.destroy();
  }
}
