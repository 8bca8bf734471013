import { createServer, type Http2Server, type Http2ServerRequest, type ServerHttp2Session } from 'node:http2';
import { fixedLimits } from '../limits.ts';

/** The time for a session to end after the client was told so. */
const GOODBYE_MS = 1_000;

/** A server for the connections that start with HTTP/2, and its open sessions. */
export interface Http2 {
  readonly server: Http2Server;
  readonly sessions: ReadonlySet<ServerHttp2Session>;
}

/**
 * Creates the HTTP/2 server, without TLS of its own.
 * @param idleMs closes a session after this time without a request, whatever else the client sends; Node itself does so for HTTP/1
 */
export function createHttp2(idleMs: number): Http2 {
  // Moderately oversized headers get 431; the protocol itself rejects much larger ones.
  const server = createServer({
    settings: {
      maxConcurrentStreams: fixedLimits.requestsPerConnection,
      maxHeaderListSize: 4 * fixedLimits.headerBytes,
    },
  });
  const sessions = new Set<ServerHttp2Session>();
  server.on('session', (session) => {
    sessions.add(session);
    session.once('close', () => sessions.delete(session));
    closeIfIdle(session, idleMs);
  });
  server.prependListener('request', bracketAuthority);
  return { server, sessions };
}

function closeIfIdle(session: ServerHttp2Session, idleMs: number): void {
  let streams = 0;
  let timer: NodeJS.Timeout;
  const rest = () => {
    timer = setTimeout(() => {
      session.close();
      // A session that waits for the rest of a frame does not end by itself.
      timer = setTimeout(() => session.destroy(), GOODBYE_MS).unref();
    }, idleMs).unref();
  };
  rest();
  session.once('close', () => clearTimeout(timer));
  session.on('stream', (stream) => {
    clearTimeout(timer);
    streams++;
    stream.once('close', () => {
      streams--;
      if (streams === 0 && !session.destroyed) rest();
    });
  });
}

/** Adds the brackets of an IPv6 address, which URLs require. Node's client omits them, and so does Connect's. */
function bracketAuthority({ headers }: Http2ServerRequest): void {
  const [, address, port] = /^([\da-f]*:[\da-f:]*):(\d+)$/i.exec(headers[':authority'] ?? '') ?? [];
  if (address !== undefined) headers[':authority'] = `[${address}]:${port}`;
}
