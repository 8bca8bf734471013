import { fromJson, type JsonObject, toBinary } from '@bufbuild/protobuf';
import { createContextValues } from '@connectrpc/connect';
import type { UniversalHandler, UniversalServerRequest, UniversalServerResponse } from '@connectrpc/connect/protocol';
import type { Context } from 'hono';
import { mediaTypeUnsupported } from '../errors/httpErrors.ts';
import { getOutgoing, type HttpEnv } from '../http/app.ts';
import { encodeGrpcMessage } from '../http/errorResponse.ts';
import type { Outgoing } from '../http/exchange.ts';
import { readBody } from '../http/requestBody.ts';
import { type RpcCall, rpcCall, rpcHandler, type UnaryRpc } from './unaryRpc.ts';

const readableTypes = [
  'application/json',
  'application/proto',
  'application/grpc',
  'application/grpc-web',
  'application/grpc-web-text',
];

/** Answers the calls of one method. */
export interface RpcResponses {
  /** Answers a request to the RPC's own path, in whatever protocol it was made. */
  rpc(context: Context<HttpEnv>): Promise<Response>;
  /**
   * Answers a REST request as gRPC or gRPC-Web would, under the HTTP status of the interface.
   * @param type the media type of the answer
   */
  rest(context: Context<HttpEnv>, type: string, request: JsonObject): Promise<Response>;
}

/** Loads what a method's calls need: the library, and the descriptors of its messages. */
export async function createRpcResponses<Caller>(rpc: UnaryRpc<Caller>): Promise<RpcResponses> {
  const method = await rpc.method();
  const handler = rpcHandler(rpc, method);
  return {
    rpc: (context) => respond(handler, context),
    async rest(context, type, request) {
      const authorization = context.req.header('authorization');
      const headers = new Headers({ 'content-type': type, ...(authorization === undefined ? {} : { authorization }) });
      const message = toBinary(method.input, fromJson(method.input, request));
      const { response, failure } = await run(handler, context, headers, frame(message));
      return new Response(response.body, { status: failure?.httpStatus ?? response.status, headers: response.headers });
    },
  };
}

async function respond(handler: UniversalHandler, context: Context<HttpEnv>): Promise<Response> {
  const contentType = context.req.header('content-type') ?? '';
  const body = readBody(context.req.raw, context.req.raw.signal);
  if (!isGrpcWebText(contentType)) return (await run(handler, context, context.req.raw.headers, body)).response;
  const headers = new Headers(context.req.raw.headers);
  headers.set('content-type', 'application/grpc-web+proto');
  const { response } = await run(handler, context, headers, fromBase64(body));
  const text = Buffer.from(await response.arrayBuffer()).toString('base64');
  response.headers.set('content-type', contentType);
  return new Response(text, response);
}

interface Answered extends Pick<RpcCall, 'failure'> {
  readonly response: Response;
}

async function run(
  handler: UniversalHandler,
  context: Context<HttpEnv>,
  header: Headers,
  body: UniversalServerRequest['body'],
): Promise<Answered> {
  const call: RpcCall = { requestId: context.get('requestId') };
  const { url, signal } = context.req.raw;
  const contextValues = createContextValues().set(rpcCall, call);
  const answer = await handler({ httpVersion: '2', method: 'POST', url, header, body, signal, contextValues });
  if (answer.status === 415) throw mediaTypeUnsupported(readableTypes);
  if (call.failure !== undefined) context.set('rpcCode', call.failure.code);
  return { response: await rpcResponse(answer, getOutgoing(context)), ...call };
}

/** A message as gRPC frames it, uncompressed: a flag, four bytes of length, the message. */
async function* frame(message: Uint8Array): AsyncGenerator<Uint8Array> {
  const head = Buffer.alloc(5);
  head.writeUInt32BE(message.length, 1);
  yield Buffer.concat([head, message]);
}

/**
 * An RPC's answer as a Response. Trailers, which a Response cannot have, are set on `outgoing` and announced by the
 * `trailer` header; where there is no message before them they are the headers, as gRPC and gRPC-Web allow and ZITADEL does.
 */
export async function rpcResponse(
  { status, header, body, trailer }: UniversalServerResponse,
  outgoing: Outgoing | undefined,
): Promise<Response> {
  const bytes = await collect(body ?? []);
  const headers = new Headers(header);
  const alone = bytes.length === 0 ? trailer : trailersAlone(bytes);
  if (alone !== undefined) {
    for (const [name, value] of readable(alone)) headers.set(name, value);
    return new Response(null, { status, headers });
  }
  if (trailer !== undefined) {
    headers.set('trailer', [...trailer.keys()].join(', '));
    outgoing?.addTrailers(Object.fromEntries(readable(trailer)));
  }
  return new Response(bytes, { status, headers });
}

/** The library encodes more of a message than gRPC's own clients decode. */
function readable(trailers: Headers): Headers {
  const copy = new Headers(trailers);
  const message = copy.get('grpc-message');
  if (message !== null) copy.set('grpc-message', encodeGrpcMessage(decodeURIComponent(message)));
  return copy;
}

async function collect(body: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): Promise<Buffer<ArrayBuffer>> {
  const parts: Uint8Array[] = [];
  for await (const part of body) parts.push(part);
  return Buffer.concat(parts);
}

const textType = /^application\/grpc-web-text(\+proto)?$/i;

/** Whether a content type is gRPC-Web's for clients that cannot read bytes: the same frames in base64. */
export function isGrpcWebText(contentType: string): boolean {
  return textType.test(contentType);
}

/** The bytes of a base64 text that arrives in pieces. */
export async function* fromBase64(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let rest = '';
  for await (const chunk of chunks) {
    const text = rest + Buffer.from(chunk).toString('latin1');
    const whole = text.length - (text.length % 4);
    rest = text.slice(whole);
    yield Buffer.from(text.slice(0, whole), 'base64');
  }
  if (rest !== '') yield Buffer.from(rest, 'base64');
}

/** The flag of a frame that holds trailers, uncompressed; a length of four bytes follows it. */
const trailersFlag = 0x80;

/** The trailers of an answer that has no message before them; undefined where there is one. */
export function trailersAlone(body: Buffer): Headers | undefined {
  if (body[0] !== trailersFlag) return undefined;
  const lines = body.toString('latin1', 5).split('\r\n').filter(Boolean);
  return new Headers(
    lines.map((line): [string, string] => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon), line.slice(colon + 1).trim()];
    }),
  );
}
