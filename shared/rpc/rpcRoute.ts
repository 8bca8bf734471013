import type { JsonObject } from '@bufbuild/protobuf';
import type { Context } from 'hono';
import { accepts } from 'hono/accepts';
import type { Route } from '../http/app.ts';
import type { HttpEnv } from '../http/nodeResponse.ts';
import { jsonResponse } from '../http/responses.ts';
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

/**
 * The REST route of a method. `toRequest` converts the path and the query to the request message in JSON. The contract
 * then validates this message.
 */
export interface RestBinding {
  readonly endpoint: Endpoint;
  readonly toRequest: (context: Context<HttpEnv>) => JsonObject;
}

/**
 * Creates the two routes of a method: one for RPCs, one for REST. The REST route responds in JSON. If `Accept` asks for
 * gRPC or gRPC-Web, it responds in that protocol instead, but with the HTTP status that the interface defines
 * (docs/decisions/0005-remote-procedure-calls.md). The modules for RPCs are loaded at the first RPC, because loading
 * them takes longer than the rest of the start.
 */
export function rpcRoutes<Caller>(rpc: UnaryRpc<Caller>, rest: RestBinding): readonly Route[] {
  let loading: Promise<RpcResponses> | undefined;
  const loadResponses = () => {
    loading ??= import('./rpcResponses.ts').then(({ createRpcResponses }) => createRpcResponses(rpc));
    return loading;
  };
  const respondRest: Route['handler'] = async (context) => {
    const type = accepts(context, { header: 'Accept', supports: acceptable, default: json });
    const request = rest.toRequest(context);
    if (type !== json) return (await loadResponses()).rest(context, type, request);
    const caller = await rpc.authenticate(context.req.header('authorization'), context.get('origin'));
    return jsonResponse(await rpc.call(caller, request));
  };
  return [
    { ...rest.endpoint, handler: respondRest },
    { method: 'POST', path: rpc.path, handler: async (context) => (await loadResponses()).rpc(context) },
  ];
}
