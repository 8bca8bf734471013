import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import type { IdentityError } from '../errors/identityError.ts';
import { errorResponse } from './errorResponse.ts';
import { newRequestId } from './requestId.ts';

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
