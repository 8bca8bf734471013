import { fromJson, type JsonObject, toBinary } from '@bufbuild/protobuf';
import { createContextValues } from '@connectrpc/connect';
import type { UniversalHandler, UniversalServerRequest } from '@connectrpc/connect/protocol';
import type { Context } from 'hono';
import { accepts } from 'hono/accepts';
import { mediaTypeUnsupported } from '../errors/errors.ts';
import { readBody } from '../http/requestBody.ts';
import { type HttpEnv, outgoingOf, type Route } from '../http/route.ts';
import { fromBase64, isGrpcWebText } from './grpcWeb.ts';
import { rpcResponse } from './rpcResponse.ts';
import { type RpcCall, rpcCall, rpcHandler, type UnaryRpc } from './unaryRpc.ts';

const json = 'application/json';
const readable = [json, 'application/proto', 'application/grpc', 'application/grpc-web', 'application/grpc-web-text'];
const acceptable = [
  json,
  'application/grpc-web+proto',
  'application/grpc-web',
  'application/grpc',
  'application/grpc+proto',
];

/** A method's REST route: where it is, and what its path says in the request message. */
export interface RestBinding extends Pick<Route, 'method' | 'path'> {
  readonly requestOf: (context: Context<HttpEnv>) => JsonObject;
}

/**
 * The two routes of a method: that of the RPC itself, and its REST route, which answers in JSON or, where `Accept` asks for
 * it, as gRPC or gRPC-Web would, under the HTTP status of the interface (docs/decisions/0005-remote-procedure-calls.md).
 */
export function rpcRoutes<Caller>(rpc: UnaryRpc<Caller>, rest: RestBinding): readonly Route[] {
  const handler = rpcHandler(rpc);
  return [
    {
      method: rest.method,
      path: rest.path,
      handler: (context) => answerRest(rpc, handler, context, rest.requestOf(context)),
    },
    { method: 'POST', path: handler.requestPath, handler: (context) => answerRpc(handler, context) },
  ];
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

async function answerRest<Caller>(
  rpc: UnaryRpc<Caller>,
  handler: UniversalHandler,
  context: Context<HttpEnv>,
  request: JsonObject,
): Promise<Response> {
  const type = accepts(context, { header: 'Accept', supports: acceptable, default: json });
  const authorization = context.req.header('authorization');
  if (type === json) return context.json(await rpc.call(await rpc.authenticate(authorization), request));
  const headers = new Headers({ 'content-type': type, ...(authorization === undefined ? {} : { authorization }) });
  const message = toBinary(rpc.method.input, fromJson(rpc.method.input, request));
  const { response, failure } = await run(handler, context, headers, frame(message));
  return new Response(response.body, { status: failure?.httpStatus ?? response.status, headers: response.headers });
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
