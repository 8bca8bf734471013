import { type Server, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { httpHeadersTimeout, httpHeadersTooLarge, httpMalformed } from '../errors/errors.ts';
import type { IdentityError } from '../errors/identityError.ts';
import type { RunningRequests } from './drain.ts';
import { errorResponse, newRequestId } from './errorResponse.ts';
import { closeAfter, isHttp1, type Outgoing } from './exchange.ts';

/** Answers what Node's HTTP/1 parser gives up on. */
export function answerParserErrors(server: Server, running: RunningRequests): void {
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    const current = [...running.answers].filter(isHttp1).find((outgoing) => outgoing.socket === socket);
    if (current?.req.complete) endAfter(current);
    else if (current?.headersSent || error.code === 'ECONNRESET') socket.destroy();
    else void answerRaw(socket, parserFault(error.code));
  });
}

// What was malformed came after a whole request: that one is still answered, and nothing is read after it.
function endAfter(outgoing: Outgoing): void {
  const { socket } = outgoing;
  closeAfter(outgoing);
  outgoing.once('close', () => socket?.destroySoon());
}

/** The error of a request that the parser gave up on, by the parser's code. */
function parserFault(code: string | undefined): IdentityError {
  if (code === 'HPE_HEADER_OVERFLOW') return httpHeadersTooLarge();
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return httpHeadersTimeout();
  return httpMalformed();
}

/** How long a refused client may go on sending, so that the refusal is not lost to a reset. */
const lingerMs = 1000;

/** Answers on a socket that has no response object, and ends it. A socket that is ended already is left alone. */
export async function answerRaw(socket: Duplex, error: IdentityError): Promise<void> {
  if (socket.writableEnded) return;
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  const response = errorResponse(error, newRequestId());
  const head = [
    `HTTP/1.1 ${response.status} ${STATUS_CODES[response.status] ?? ''}`,
    ...Array.from(response.headers, ([name, value]) => `${name}: ${value}`),
    `date: ${new Date().toUTCString()}`,
    'connection: close',
  ];
  const body = await response.text();
  const timer = setTimeout(() => socket.destroy(), lingerMs);
  socket.once('close', () => clearTimeout(timer));
  socket.on('error', () => socket.destroy());
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
  socket.resume();
}
