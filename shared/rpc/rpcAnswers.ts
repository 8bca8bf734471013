import { fromJson, type JsonObject, toBinary } from '@bufbuild/protobuf';
import { createContextValues } from '@connectrpc/connect';
import type { UniversalHandler, UniversalServerRequest } from '@connectrpc/connect/protocol';
import type { Context } from 'hono';
import { mediaTypeUnsupported } from '../errors/httpErrors.ts';
import { readBody } from '../http/requestBody.ts';
import { type HttpEnv, outgoingOf } from '../http/route.ts';
import { fromBase64, isGrpcWebText } from './grpcWeb.ts';
import { rpcResponse } from './rpcResponse.ts';
import { type RpcCall, rpcCall, rpcHandler, type UnaryRpc } from './unaryRpc.ts';

const readable = [
  'application/json',
  'application/proto',
  'application/grpc',
  'application/grpc-web',
  'application/grpc-web-text',
];

/** Answers the calls of one method. */
export interface RpcAnswers {
  /** Answers a request to the RPC's own path, in whatever protocol it was made. */
  rpc(context: Context<HttpEnv>): Promise<Response>;
  /**
   * Answers a REST request as gRPC or gRPC-Web would, under the HTTP status of the interface.
   * @param type the media type of the answer
   */
  rest(context: Context<HttpEnv>, type: string, request: JsonObject): Promise<Response>;
}

/** Loads what a method's calls need: the library, and the descriptors of its messages. */
export async function rpcAnswers<Caller>(rpc: UnaryRpc<Caller>): Promise<RpcAnswers> {
  const method = await rpc.method();
  const handler = rpcHandler(rpc, method);
  return {
    rpc: (context) => answerRpc(handler, context),
    async rest(context, type, request) {
      const authorization = context.req.header('authorization');
      const headers = new Headers({ 'content-type': type, ...(authorization === undefined ? {} : { authorization }) });
      const message = toBinary(method.input, fromJson(method.input, request));
      const { response, failure } = await run(handler, context, headers, frame(message));
      return new Response(response.body, { status: failure?.httpStatus ?? response.status, headers: response.headers });
    },
  };
}

async function answerRpc(handler: UniversalHandler, context: Context<HttpEnv>): Promise<Response> {
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
  if (answer.status === 415) throw mediaTypeUnsupported(readable);
  if (call.failure !== undefined) context.set('rpcCode', call.failure.code);
  return { response: await rpcResponse(answer, outgoingOf(context)), ...call };
}

/** A message as gRPC frames it, uncompressed: a flag, four bytes of length, the message. */
async function* frame(message: Uint8Array): AsyncGenerator<Uint8Array> {
  const head = Buffer.alloc(5);
  head.writeUInt32BE(message.length, 1);
  yield Buffer.concat([head, message]);
}
