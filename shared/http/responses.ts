// Responses: JSON, errors, fixed content and their headers.

import { randomUUID } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { z } from 'zod';
import { codes, IdentityError } from '../errors/identityError.ts';
import { log, requestFields } from '../log.ts';

/**
 * A response with known content, which the server writes without reading a stream. Creates a body only when code of this
 * process reads it, because a body takes ten times as long as the rest of a response.
 */
class CompleteResponse extends Response {
  readonly content: string | Uint8Array<ArrayBuffer>;
  private bodied: Response | undefined;

  constructor(content: string | Uint8Array<ArrayBuffer>, init: ResponseInit) {
    super(null, init);
    this.content = content;
  }

  withBody(): Response {
    this.bodied ??= new Response(this.content, this);
    return this.bodied;
  }
}

// Define the properties here, because TypeScript does not accept accessors in a subclass of `Response`.
for (const name of ['body', 'bodyUsed'] as const)
  Object.defineProperty(CompleteResponse.prototype, name, {
    get(this: CompleteResponse) {
      return this.withBody()[name];
    },
  });
for (const name of ['arrayBuffer', 'blob', 'bytes', 'clone', 'formData', 'json', 'text'] as const)
  Object.defineProperty(CompleteResponse.prototype, name, {
    value(this: CompleteResponse) {
      return this.withBody()[name]();
    },
  });

/** Creates the complete response of a successful operation. */
export function jsonResponse(value: object): Response {
  return new CompleteResponse(JSON.stringify(value), { headers: { 'content-type': 'application/json' } });
}

/**
 * Creates the response of an operation that redirects the client to the result. The client fetches the result with GET.
 */
export function seeOther(location: string, value: object): Response {
  const headers = { 'content-type': 'application/json', location };
  return new CompleteResponse(JSON.stringify(value), { status: 303, headers });
}

/** Returns the content of a complete response as bytes; undefined if it must be read from a stream. */
export function completeContent(response: Response): Uint8Array | undefined {
  if (!(response instanceof CompleteResponse)) return undefined;
  return typeof response.content === 'string' ? Buffer.from(response.content) : response.content;
}

/**
 * Creates a handler that responds with fixed content. The first request loads the bytes, which all responses share, so
 * that many slow clients need no additional memory.
 */
export function fixedContent(
  headers: Readonly<Record<string, string>>,
  load: () => string | Promise<string | Uint8Array<ArrayBuffer>>,
): () => Promise<Response> {
  let loading: Promise<Uint8Array<ArrayBuffer>> | undefined;
  const loadBytes = async () => {
    const content = await load();
    return typeof content === 'string' ? Buffer.from(content) : content;
  };
  return async () => {
    loading ??= loadBytes().catch((error: unknown) => {
      loading = undefined;
      throw error;
    });
    const bytes = await loading;
    const init = { headers: { ...headers, 'content-length': String(bytes.byteLength) } };
    return new CompleteResponse(bytes, init);
  };
}

/** Receives an unexpected error. Callers do not receive its text. */
export type OnUnexpected = (error: IdentityError, requestId: string, trace: string | undefined) => void;

const logUnexpected: OnUnexpected = (error, requestId, trace) =>
  log.error({ stack_trace: error.cause ?? error, ...requestFields(requestId, trace) }, 'request failed');

/**
 * Converts any thrown value to an error that callers may receive. Reports an unexpected error once, by default in the
 * log; the caller receives INTERNAL without its text.
 */
export function toPublicError(
  error: unknown,
  requestId: string,
  trace?: string,
  onUnexpected = logUnexpected,
): IdentityError {
  const publicError = IdentityError.from(error);
  if (publicError.code === 'INTERNAL') onUnexpected(publicError, requestId, trace);
  return publicError;
}

/**
 * Renders any thrown value as the interface's error body (specification 2.3).
 * @param contentType the request's content type; for a content type of gRPC, the response contains the status in its
 * headers
 * @param trace the id of the request's trace
 */
export function errorResponse(
  error: unknown,
  requestId: string,
  contentType?: string,
  trace?: string,
  onUnexpected?: OnUnexpected,
): Response {
  const publicError = toPublicError(error, requestId, trace, onUnexpected);
  if (contentType !== undefined && isGrpc(contentType)) return grpcResponse(publicError, requestId, contentType);
  const body = Buffer.from(JSON.stringify(publicError.toJson()));
  const headers = new Headers({
    ...responseHeaders(requestId),
    'content-type': 'application/json',
    'content-length': String(body.byteLength),
  });
  if (publicError.retryAfterSeconds !== undefined) headers.set('retry-after', String(publicError.retryAfterSeconds));
  if (publicError.httpStatus === 401) headers.set('www-authenticate', toHeaderValue(publicError.message));
  return new CompleteResponse(body, { status: publicError.httpStatus, headers });
}

// Creates a Trailers-Only response of gRPC.
function grpcResponse(error: IdentityError, requestId: string, contentType: string): Response {
  const { code, message } = error;
  return new Response(null, {
    headers: {
      ...responseHeaders(requestId),
      'content-type': contentType,
      'grpc-status': String(codes[code].number),
      'grpc-message': encodeGrpcMessage(message),
      ...statusHeader(error),
    },
  });
}

/**
 * For each type of detail in RPC errors, its text fields in the order of their field numbers in the protobuf message.
 */
const messages: Readonly<Record<string, readonly string[]>> = {
  'zitadel.v1.ErrorDetail': ['id', 'message'],
  'google.rpc.ErrorInfo': ['reason', 'domain'],
};
const metadataOf = z.record(z.string(), z.string()).catch({});
const TYPE_URL = 'type.googleapis.com/';

/** Returns an error's details as messages of protobuf. */
export function encodeDetails({ details }: IdentityError) {
  return details.flatMap((detail) => {
    const type = detail['@type'].slice(TYPE_URL.length);
    const fields = messages[type]?.map((name): [string, string] => [name, String(detail[name])]);
    if (fields === undefined) return [];
    const metadata = metadataOf.parse(detail.metadata);
    const value = Buffer.concat([
      ...fields.map(([, text], index) => encodeField(index + 1, text)),
      ...Object.entries(metadata).map(([key, text]) =>
        encodeField(fields.length + 1, Buffer.concat([encodeField(1, key), encodeField(2, text.toWellFormed())])),
      ),
    ]);
    const debug = { ...Object.fromEntries(fields), ...(detail.metadata === undefined ? {} : { metadata }) };
    return [{ type, value, debug }];
  });
}

/** Returns the header that contains an error as a `google.rpc.Status`, if the error has details. */
function statusHeader(error: IdentityError): Readonly<Record<string, string>> {
  const details = encodeDetails(error);
  if (details.length === 0) return {};
  const status = [Uint8Array.of(8, codes[error.code].number), encodeField(2, error.message.toWellFormed())];
  for (const { type, value } of details)
    status.push(encodeField(3, Buffer.concat([encodeField(1, TYPE_URL + type), encodeField(2, value)])));
  // gRPC expects Base64 without padding here.
  return { 'grpc-status-details-bin': Buffer.concat(status).toString('base64').replace(/=+$/, '') };
}

/** Encodes a text or a message as a protobuf field without the protobuf library, which most functions do not load. */
function encodeField(number: number, content: string | Uint8Array): Buffer {
  const bytes = Buffer.from(content);
  const head = [(number << 3) | 2];
  let length = bytes.length;
  for (; length > 127; length >>>= 7) head.push((length & 127) | 128);
  return Buffer.concat([Uint8Array.of(...head, length), bytes]);
}

function toHeaderValue(text: string): string {
  return text.replace(/[^\x20-\x7e]+/g, ' ');
}

/** Returns the headers of every response, including errors of the HTTP server itself. */
export function responseHeaders(requestId: string): Record<string, string> {
  return {
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    'x-request-id': requestId,
    'x-robots-tag': 'none',
  };
}

const validRequestId = /^[A-Za-z0-9._-]{1,64}$/;

/** Returns the id for a response and its log lines: the caller's if it is valid, else the platform's, else a new id. */
export function requestIdFrom(readHeader: (name: string) => string | undefined): string {
  const given = [readHeader('x-request-id'), readHeader('function-execution-id')];
  return given.find((id) => id !== undefined && validRequestId.test(id)) ?? newRequestId();
}

/** Creates an id for a request whose headers are unknown. */
export const newRequestId = (): string => randomUUID();

const grpcType = /^application\/grpc(?:-web(?:-text)?)?(?:\+(?:proto|json))?$/i;

/**
 * Whether a content type is gRPC's or gRPC-Web's. Their responses contain gRPC's status, and have the HTTP status 200.
 */
export function isGrpc(type: string): boolean {
  return grpcType.test(type);
}

/** Whether a request uses an RPC protocol: gRPC, gRPC-Web or Connect. */
export function isRpc(headers: Headers): boolean {
  const type = headers.get('content-type') ?? '';
  return isGrpc(type) || type.startsWith('application/connect+') || headers.has('connect-protocol-version');
}

/**
 * Encodes a `grpc-message`. Encodes only the characters that require it, because some clients do not decode other
 * characters.
 */
export function encodeGrpcMessage(text: string): string {
  return text.toWellFormed().replace(/[^\x20-\x24\x26-\x7e]+/g, encodeURIComponent);
}

/**
 * Writes an error to a socket without a response object, and closes the socket at once, unless the socket has already
 * ended.
 */
export function writeRawError(socket: Duplex, error: IdentityError): void {
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
  const content = completeContent(response) ?? '';
  socket.on('error', () => socket.destroy());
  // Closing a socket with unread bytes resets the connection, and the reset can overtake the response. So read them.
  socket.resume();
  socket.end(`${head.join('\r\n')}\r\n\r\n${content}`, () => socket.destroy());
}
