import {
  type DescMethodUnary,
  fromJson,
  type JsonObject,
  type JsonValue,
  type Message,
  toJson,
} from '@bufbuild/protobuf';
import { ConnectError, createConnectRouter, createContextKey, type HandlerContext } from '@connectrpc/connect';
import type { UniversalHandler } from '@connectrpc/connect/protocol';
import { compressionBrotli, compressionGzip } from '@connectrpc/connect-node';
import { ErrorDetailSchema } from '@zitadel/proto/zitadel/message_pb.js';
import { codes, type IdentityError } from '../errors/identityError.ts';
import { shownError } from '../http/errorResponse.ts';

/** One method of a service, and what it does. Messages are handed over in their JSON mapping, which the REST route has as well. */
export interface UnaryRpc<Caller> {
  /** `/<service>/<method>`. */
  readonly path: string;
  /** Loads what describes it. */
  readonly method: () => Promise<DescMethodUnary>;
  /** Finds the caller by the Authorization header, before anything of the body is read or inflated. */
  readonly authenticate: (authorization: string | undefined) => Promise<Caller>;
  readonly call: (caller: Caller, request: JsonValue) => Promise<JsonObject>;
}

/** What is known of one call beside its messages. */
export interface RpcCall {
  readonly requestId: string;
  /** The error that it was refused with; undefined also where the protocol itself refused it. */
  failure?: IdentityError;
}

export const rpcCall = createContextKey<RpcCall>({ requestId: '' });

/** Inflated; a message of a user id and fields that this version does not know is much smaller. */
const readMaxBytes = 64 * 1024;

/** Serves a method over gRPC, gRPC-Web and Connect, in JSON and binary; which of them, the request's content type says. */
export function rpcHandler<Caller>(
  { path, authenticate, call }: UnaryRpc<Caller>,
  method: DescMethodUnary,
): UniversalHandler {
  const callerKey = createContextKey<Caller | undefined>(undefined);
  const authenticateCall = async ({ requestHeader, values }: HandlerContext) => {
    values.set(callerKey, await authenticate(requestHeader.get('authorization') ?? undefined));
  };
  const answer = async (message: Message, { values, signal }: HandlerContext) => {
    const caller = values.get(callerKey);
    if (caller === undefined) throw new Error('a call got past the gate without a caller');
    signal.throwIfAborted();
    return fromJson(method.output, await call(caller, toJson(method.input, message)));
  };
  const { handlers } = createConnectRouter({
    acceptCompression: [compressionGzip, compressionBrotli],
    readMaxBytes,
    requestGate: (context) => refusing(context, authenticateCall(context)),
  }).rpc(method, (message, context) => refusing(context, answer(message, context)));
  const [handler] = handlers;
  if (handler?.requestPath !== path) throw new Error(`${method.name} is not called at ${path}`);
  return handler;
}

/** Turns what was thrown into what the protocols can carry; the library's own errors are that already. */
async function refusing<T>(context: HandlerContext, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (reason) {
    if (reason instanceof ConnectError) throw reason;
    const known = context.values.get(rpcCall);
    known.failure = shownError(reason, known.requestId);
    throw connectError(known.failure);
  }
}

/**
 * An error as the RPC protocols carry it: ZITADEL's message, and where the error has an id, ZITADEL's detail
 * (zitadel 6.4). Details of other types belong to requests that no RPC makes.
 */
function connectError({ code, message, id, text }: IdentityError): ConnectError {
  const details = id === undefined ? [] : [{ desc: ErrorDetailSchema, value: { id, message: text } }];
  return new ConnectError(message, codes[code].number, undefined, details);
}
