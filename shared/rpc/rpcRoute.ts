import type { JsonObject } from '@bufbuild/protobuf';
import type { Context } from 'hono';
import { accepts } from 'hono/accepts';
import type { HttpEnv, Route } from '../http/app.ts';
import type { Endpoint } from '../openapi/endpoint.ts';
import type { RpcResponses } from './rpcResponses.ts';
import type { UnaryRpc } from './unaryRpc.ts';

const json = 'application/json';
const acceptable = [
  json,
  'application/grpc-web+proto',
  'application/grpc-web',
  'application/grpc',
  'application/grpc+proto',
];

/** A method's REST route: where it is, and what its path says in the request message. */
export interface RestBinding {
  readonly endpoint: Endpoint;
  readonly requestOf: (context: Context<HttpEnv>) => JsonObject;
}

/**
 * The two routes of a method: that of the RPC itself, and its REST route, which answers in JSON or, where `Accept` asks for
 * it, as gRPC or gRPC-Web would, under the HTTP status of the interface (docs/decisions/0005-remote-procedure-calls.md).
 * What the RPC protocols need is loaded by the first call that is made in one: it takes longer than all else at the start.
 */
export function rpcRoutes<Caller>(rpc: UnaryRpc<Caller>, rest: RestBinding): readonly Route[] {
  let loading: Promise<RpcResponses> | undefined;
  const answers = () => {
    loading ??= import('./rpcResponses.ts').then(({ createRpcResponses }) => createRpcResponses(rpc));
    return loading;
  };
  const respondRest: Route['handler'] = async (context) => {
    const type = accepts(context, { header: 'Accept', supports: acceptable, default: json });
    const request = rest.requestOf(context);
    if (type !== json) return (await answers()).rest(context, type, request);
    const caller = await rpc.authenticate(context.req.header('authorization'));
    return context.json(await rpc.call(caller, request));
  };
  return [
    { ...rest.endpoint, handler: respondRest },
    { method: 'POST', path: rpc.path, handler: async (context) => (await answers()).rpc(context) },
  ];
}
