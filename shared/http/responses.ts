import { randomUUID } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { z } from 'zod';
import { codes, IdentityError } from '../errors/identityError.ts';
import { log, requestFields } from '../log.ts';

/**
 * A response with known content, which the server writes without a stream. Creating a stream takes ten times as long as
 * the rest of the response. So this class creates a stream only if code in this process reads `body`.
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

// Define the accessors on the prototype, because TypeScript does not accept accessors in a subclass of `Response`.
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

export function jsonResponse(value: object): Response {
  return new CompleteResponse(JSON.stringify(value), { headers: { 'content-type': 'application/json' } });
}

export function seeOther(location: string, value: object): Response {
  const headers = { 'content-type': 'application/json', location };
  return new CompleteResponse(JSON.stringify(value), { status: 303, headers });
}

/** Returns the content of a response as bytes; undefined if the server must read the body from a stream. */
export function completeContent(response: Response): Uint8Array | undefined {
  if (!(response instanceof CompleteResponse)) return undefined;
  return typeof response.content === 'string' ? Buffer.from(response.content) : response.content;
}

/**
 * Creates a handler that always responds with the same content. The first request loads the content. All responses
 * share the bytes of this content, so many slow clients do not need more memory.
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

export type OnUnexpected = (error: IdentityError, requestId: string, trace: string | undefined) => void;

const logUnexpected: OnUnexpected = (error, requestId, trace) =>
  log.error({ stack_trace: error.cause ?? error, ...requestFields(requestId, trace) }, 'request failed');

/**
 * Converts any thrown value to an error that a client may see. Converts an unexpected error to INTERNAL without the
 * error's text, and passes the converted error, whose cause is the unexpected error, to `onUnexpected`. If
 * `onUnexpected` is absent, logs the error.
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
 * Creates the response with the error body of the interface (specification 2.3).
 * @param contentType the content type of the request; the response to a gRPC request contains the status in its
 * headers
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

// In a Trailers-Only response, gRPC sends the status in the headers.
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
 * For each type of error detail, the names of the text fields of its protobuf message, in the order of their field
 * numbers.
 */
const messages: Readonly<Record<string, readonly string[]>> = {
  'zitadel.v1.ErrorDetail': ['id', 'message'],
  'google.rpc.ErrorInfo': ['reason', 'domain'],
};
const metadataOf = z.record(z.string(), z.string()).catch({});
const TYPE_URL = 'type.googleapis.com/';

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

function statusHeader(error: IdentityError): Readonly<Record<string, string>> {
  const details = encodeDetails(error);
  if (details.length === 0) return {};
  const status = [Uint8Array.of(8, codes[error.code].number), encodeField(2, error.message.toWellFormed())];
  for (const { type, value } of details)
    status.push(encodeField(3, Buffer.concat([encodeField(1, TYPE_URL + type), encodeField(2, value)])));
  // In this header, gRPC expects base64 without padding.
  return { 'grpc-status-details-bin': Buffer.concat(status).toString('base64').replace(/=+$/, '') };
}

/**
 * Encodes a field of a protobuf message. Most functions do not load the protobuf library, so this module encodes the
 * few messages itself.
 */
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

/** Returns the headers that every response has, even if the HTTP server itself responds with an error. */
export function responseHeaders(requestId: string): Record<string, string> {
  return {
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    'x-request-id': requestId,
    'x-robots-tag': 'none',
  };
}

const validRequestId = /^[A-Za-z0-9._-]{1,64}$/;

/**
 * Returns the request id that the client has sent if it is valid, else the platform's request id, else a new request
 * id.
 */
export function requestIdFrom(readHeader: (name: string) => string | undefined): string {
  const ids = [readHeader('x-request-id'), readHeader('function-execution-id')];
  return ids.find((id) => id !== undefined && validRequestId.test(id)) ?? newRequestId();
}

export const newRequestId = (): string => randomUUID();

const grpcType = /^application\/grpc(?:-web(?:-text)?)?(?:\+(?:proto|json))?$/i;

/**
 * Returns whether a content type belongs to gRPC or gRPC-Web. Responses in these protocols contain the status of the
 * RPC in headers or trailers, and always have the HTTP status 200.
 */
export function isGrpc(type: string): boolean {
  return grpcType.test(type);
}

export function isRpc(headers: Headers): boolean {
  const type = headers.get('content-type') ?? '';
  return isGrpc(type) || type.startsWith('application/connect+') || headers.has('connect-protocol-version');
}

/**
 * Percent-encodes an error message. Encodes as few characters as possible, because some clients do not decode the
 * message.
 */
export function encodeGrpcMessage(text: string): string {
  return text.toWellFormed().replace(/[^\x20-\x24\x26-\x7e]+/g, encodeURIComponent);
}

/**
 * Writes an error to a socket for which Node has no response object, and closes the socket. Does nothing if the socket
 * has already ended.
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
  // Read the remaining bytes. If a socket with unread bytes is closed, the connection is reset, and the client may lose
  // the response.
  socket.resume();
  socket.end(`${head.join('\r\n')}\r\n\r\n${content}`, () => socket.destroy());
}
