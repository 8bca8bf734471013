import type { JsonObject } from '@bufbuild/protobuf';
import { createContextValues } from '@connectrpc/connect';
import type { UniversalHandler, UniversalServerResponse } from '@connectrpc/connect/protocol';
import type { Context } from 'hono';
import { defined } from '../defined.ts';
import { mediaTypeUnsupported } from '../errors/httpErrors.ts';
import { callSignal, MAX_TIMER_MS } from '../http/deadline.ts';
import { getOutgoing, type HttpEnv, type Outgoing } from '../http/nodeResponse.ts';
import { readBody } from '../http/requestBody.ts';
import { encodeGrpcMessage } from '../http/responses.ts';
import { type RpcCall, receiptFailure, rpcCall, rpcHandler, type UnaryRpc } from './unaryRpc.ts';

const readableTypes = [
  'application/json',
  'application/proto',
  'application/grpc',
  'application/grpc-web',
  'application/grpc-web-text',
];

export interface RpcResponses {
  /** Responds in the protocol of the request. */
  rpc(context: Context<HttpEnv>): Promise<Response>;
  /**
   * Responds to a REST request in the format of gRPC or gRPC-Web, but with the HTTP status that the interface defines.
   * @param type the response's media type
   */
  rest(context: Context<HttpEnv>, type: string, request: JsonObject): Promise<Response>;
}

export async function createRpcResponses<Caller>(rpc: UnaryRpc<Caller>): Promise<RpcResponses> {
  const method = await rpc.method();
  const handler = rpcHandler(rpc, method);
  return {
    rpc: (context) => respondToRpc(handler, context),
    async rest(context, type, request) {
      const authorization = context.req.header('authorization');
      const headers = new Headers({ 'content-type': type, ...defined({ authorization }) });
      const { response, failure } = await run(handler, context, headers, emptyFrame, request);
      return new Response(response.body, { status: failure?.httpStatus ?? response.status, headers: response.headers });
    },
  };
}

async function respondToRpc(handler: UniversalHandler, context: Context<HttpEnv>): Promise<Response> {
  const contentType = context.req.header('content-type') ?? '';
  const body = (signal: AbortSignal) => readBody(context.req.raw, signal);
  if (!isGrpcWebText(contentType)) return (await run(handler, context, context.req.raw.headers, body)).response;
  const headers = new Headers(context.req.raw.headers);
  headers.set('content-type', 'application/grpc-web+proto');
  const { response } = await run(handler, context, headers, (signal) => fromBase64(body(signal)));
  const text = Buffer.from(await response.arrayBuffer()).toString('base64');
  response.headers.set('content-type', contentType);
  return new Response(text, response);
}

interface RpcResult extends Pick<RpcCall, 'failure'> {
  readonly response: Response;
}

async function run(
  handler: UniversalHandler,
  context: Context<HttpEnv>,
  header: Headers,
  body: (signal: AbortSignal) => AsyncIterable<Uint8Array>,
  restRequest?: JsonObject,
): Promise<RpcResult> {
  const call: RpcCall = {
    requestId: context.get('requestId'),
    origin: context.get('origin'),
    receiving: new AbortController(),
    ...defined({ restRequest }),
  };
  const { url } = context.req.raw;
  using clientSignal = callSignal(context.req.raw.signal, undefined);
  const contextValues = createContextValues().set(rpcCall, call);
  const request = {
    httpVersion: '2',
    method: 'POST',
    url,
    header: withoutEndlessTimeout(header),
    signal: clientSignal.signal,
    contextValues,
  };
  const received = body(AbortSignal.any([context.req.raw.signal, call.receiving.signal]));
  let response = await handler({ ...request, body: received }).catch(ignoreUnwritable);
  if (response?.status === 415) throw mediaTypeUnsupported({ readable: readableTypes });
  const failure = call.failure === undefined ? receiptFailure(call) : undefined;
  if (failure !== undefined) {
    call.failure = failure;
    // Let the handler of the protocol render the error. This handler does not read the body of a failed call, so pass
    // an empty message to it.
    response = await handler({ ...request, body: emptyFrame() });
  }
  if (response === undefined) throw new Error('a call ended with an error that could not be written');
  if (call.failure !== undefined) context.set('rpcCode', call.failure.code);
  // Use the HTTP status of our error. If the body arrives too slowly, Connect would respond with 504, which would mean
  // that the service has failed.
  const status = response.status < 400 ? response.status : (call.failure?.httpStatus ?? response.status);
  return { response: await rpcResponse({ ...response, status }, getOutgoing(context)), ...call };
}

/**
 * The headers that contain the timeout of a call, for gRPC and for Connect. Each row contains the header's name, the
 * pattern of its value, and the milliseconds of each unit.
 */
const timeouts = [
  { name: 'grpc-timeout', pattern: /^(\d{1,8})([HMS])$/, milliseconds: { H: 3_600_000, M: 60_000, S: 1_000 } },
  { name: 'connect-timeout-ms', pattern: /^(\d{1,10})()$/, milliseconds: { '': 1 } },
] as const;

/**
 * Removes the header with the timeout if the timeout exceeds 24 days. A timer cannot wait that long, so the call would
 * time out at once.
 */
function withoutEndlessTimeout(headers: Headers): Headers {
  const endless = timeouts.filter(({ name, pattern, milliseconds }) => {
    const [, digits = '', unit = ''] = pattern.exec(headers.get(name) ?? '') ?? [];
    const factor = Object.entries(milliseconds).find(([letter]) => letter === unit)?.[1] ?? 0;
    return Number(digits) * factor > MAX_TIMER_MS;
  });
  if (endless.length === 0) return headers;
  const copy = new Headers(headers);
  for (const { name } of endless) copy.delete(name);
  return copy;
}

/**
 * The handler cannot write an error message that quotes half of a surrogate pair, and then throws an error. Ignores
 * this error. `receiptFailure` then returns another error for the response.
 */
function ignoreUnwritable(error: unknown): undefined {
  if (!(error instanceof URIError)) throw error;
}

/** Yields an empty message in gRPC's framing: a zero byte for the flags, and four zero bytes for the length. */
async function* emptyFrame(): AsyncGenerator<Uint8Array> {
  yield Buffer.alloc(5);
}

/**
 * Converts the response of an RPC to a `Response`. A `Response` cannot have trailers, so this function adds the
 * trailers to `outgoing`, and lists their names in the `trailer` header. In a response without a message, the trailers
 * become headers, as gRPC and gRPC-Web allow and ZITADEL does.
 */
export async function rpcResponse(
  { status, header, body, trailer }: UniversalServerResponse,
  outgoing: Outgoing | undefined,
): Promise<Response> {
  const bytes = await concatenate(body ?? []);
  const headers = new Headers(header);
  const trailersOnly = bytes.length === 0 ? trailer : parseTrailersOnly(bytes);
  if (trailersOnly !== undefined) {
    for (const [name, value] of reencodeMessage(trailersOnly)) headers.set(name, value);
    return new Response(null, { status, headers });
  }
  if (trailer !== undefined) {
    headers.set('trailer', [...trailer.keys()].join(', '));
    outgoing?.addTrailers(Object.fromEntries(reencodeMessage(trailer)));
  }
  return new Response(bytes, { status, headers });
}

/**
 * Replaces the library's encoding of the error message, because the library encodes characters that gRPC's own clients
 * do not decode.
 */
function reencodeMessage(trailers: Headers): Headers {
  const copy = new Headers(trailers);
  const message = copy.get('grpc-message');
  if (message !== null) copy.set('grpc-message', encodeGrpcMessage(decodeURIComponent(message)));
  return copy;
}

async function concatenate(body: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): Promise<Buffer<ArrayBuffer>> {
  const parts: Uint8Array[] = [];
  for await (const part of body) parts.push(part);
  return Buffer.concat(parts);
}

const textType = /^application\/grpc-web-text(\+proto)?$/i;

/** Whether a content type is gRPC-Web with frames in base64. Clients that cannot read bytes use this format. */
export function isGrpcWebText(contentType: string): boolean {
  return textType.test(contentType);
}

export async function* fromBase64(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let undecoded = '';
  for await (const chunk of chunks) {
    const text = undecoded + Buffer.from(chunk).toString('latin1');
    const decodable = text.length - (text.length % 4);
    undecoded = text.slice(decodable);
    yield Buffer.from(text.slice(0, decodable), 'base64');
  }
  if (undecoded !== '') yield Buffer.from(undecoded, 'base64');
}

/** The first byte of a frame with uncompressed trailers. The next four bytes contain the frame's length. */
const trailersFlag = 0x80;

/**
 * Parses the trailers of a gRPC-Web response that contains no message. Returns undefined if the response contains a
 * message.
 */
export function parseTrailersOnly(body: Buffer): Headers | undefined {
  if (body[0] !== trailersFlag) return undefined;
  const lines = body.toString('latin1', 5).split('\r\n').filter(Boolean);
  return new Headers(
    lines.map((line): [string, string] => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon), line.slice(colon + 1).trim()];
    }),
  );
}
