import { randomUUID } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { codes, IdentityError } from '../errors/identityError.ts';
import { log } from '../log.ts';

/**
 * Folds whatever was thrown into an error that can be shown.
 * What is not an IdentityError is logged here, once, and shown as INTERNAL without its text.
 */
export function shownError(error: unknown, requestId: string): IdentityError {
  const shown = IdentityError.from(error);
  if (shown.code === 'INTERNAL') log.requestFailed(shown.cause ?? shown, requestId);
  return shown;
}

/**
 * Renders whatever was thrown as the interface's error body (specification 2.3).
 *
 * @param contentType the request's; one of gRPC's is answered as its protocol asks for, by a status in the headers
 */
export function errorResponse(error: unknown, requestId: string, contentType?: string): Response {
  const shown = shownError(error, requestId);
  if (contentType !== undefined && isGrpc(contentType)) return grpcResponse(shown, requestId, contentType);
  const body = Buffer.from(JSON.stringify(shown.toJson()));
  const headers = new Headers({
    ...responseHeaders(requestId),
    'content-type': 'application/json',
    'content-length': String(body.byteLength),
  });
  if (shown.httpStatus === 401) headers.set('www-authenticate', headerSafe(shown.message));
  return new Response(body, { status: shown.httpStatus, headers });
}

// What gRPC calls "trailers only". Details would need the descriptors of the RPCs, whose own errors never come here.
function grpcResponse({ code, message }: IdentityError, requestId: string, contentType: string): Response {
  return new Response(null, {
    headers: {
      ...responseHeaders(requestId),
      'content-type': contentType,
      'grpc-status': String(codes[code].number),
      'grpc-message': encodeGrpcMessage(message),
    },
  });
}

function headerSafe(text: string): string {
  return text.replace(/[^\x20-\x7e]+/g, ' ');
}

/** The headers that every answer carries, errors of the HTTP server itself included. */
export function responseHeaders(requestId: string): Record<string, string> {
  return {
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    'x-request-id': requestId,
    'x-robots-tag': 'none',
  };
}

const sane = /^[A-Za-z0-9._-]{1,64}$/;

/** The id that an answer and its log lines carry: the caller's if it is sane, else the platform's, else a new one. */
export function requestIdFrom(readHeader: (name: string) => string | undefined): string {
  const given = [readHeader('x-request-id'), readHeader('function-execution-id')];
  return given.find((id) => id !== undefined && sane.test(id)) ?? newRequestId();
}

/** An id for a request whose headers are not known. */
export const newRequestId = (): string => randomUUID();

const contentType = /^application\/grpc(?:-web(?:-text)?)?(?:\+(?:proto|json))?$/i;

/** Whether a content type is one of gRPC's or gRPC-Web's: their answers carry a status of their own, under HTTP's 200. */
export function isGrpc(type: string): boolean {
  return contentType.test(type);
}

/** A `grpc-message`: encoded is only what must be, since some clients do not decode more than that. */
export function encodeGrpcMessage(text: string): string {
  return text.toWellFormed().replace(/[^\x20-\x24\x26-\x7e]+/g, encodeURIComponent);
}

/** How long a refused client may go on sending, so that the refusal is not lost to a reset. */
const lingerMs = 1000;

/** Answers on a socket that has no response object, and ends it. A socket that is ended already is left alone. */
export async function writeRawError(socket: Duplex, error: IdentityError): Promise<void> {
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
