// The handler of a unary RPC, independent of its protocol.

import {
  type DescMethodUnary,
  fromJson,
  type JsonObject,
  type JsonValue,
  type Message,
  toJson,
} from '@bufbuild/protobuf';
import {
  Code as ConnectCode,
  ConnectError,
  createConnectRouter,
  createContextKey,
  type HandlerContext,
} from '@connectrpc/connect';
import type { UniversalHandler } from '@connectrpc/connect/protocol';
import { compressionBrotli, compressionGzip } from '@connectrpc/connect-node';
import type { Origin } from '../audit/auditEvent.ts';
import { deadlineExceeded } from '../errors/errors.ts';
import { rpcMalformed } from '../errors/httpErrors.ts';
import { codes, type IdentityError } from '../errors/identityError.ts';
import { encodeDetails, toPublicError } from '../http/responses.ts';

/**
 * One method of a service. Requests and responses are in the JSON mapping of protobuf messages, as on the REST route.
 */
export interface UnaryRpc<Caller> {
  /** The path: `/<service>/<method>`. */
  readonly path: string;
  readonly method: () => Promise<DescMethodUnary>;
  /** Authenticates the caller by the Authorization header, before the body is read or decompressed. */
  readonly authenticate: (authorization: string | undefined, origin: Origin) => Promise<Caller>;
  readonly call: (caller: Caller, request: JsonValue) => Promise<JsonObject>;
}

export interface RpcCall {
  readonly requestId: string;
  readonly origin: Origin;
  /**
   * The request of a REST route, which the contract validates; undefined for an RPC, whose message contains the
   * request.
   */
  readonly restRequest?: JsonObject;
  /** The call's error; undefined if the call succeeded, or if the protocol itself rejected the call. */
  failure?: IdentityError;
  /** Aborts when the protocol's handler ends the call. Its reason is the error, if the call failed. */
  ended?: AbortSignal;
  /** Aborts receiving the request, which may never arrive completely. */
  readonly receiving: AbortController;
  /** Whether the request's message was received and parsed. */
  isReceived?: boolean;
}

export const rpcCall = createContextKey<RpcCall>({ requestId: '', origin: {}, receiving: new AbortController() });

/** The maximum decompressed size, far more than a user id with some unknown fields needs. */
const readMaxBytes = 64 * 1024;

/**
 * Creates a handler for gRPC, gRPC-Web and Connect, with JSON and binary messages. The request's content type selects
 * the protocol.
 */
export function rpcHandler<Caller>(
  { path, authenticate, call }: UnaryRpc<Caller>,
  method: DescMethodUnary,
): UniversalHandler {
  const callerKey = createContextKey<Caller | undefined>(undefined);
  const authenticateCall = async ({ requestHeader, values, signal }: HandlerContext) => {
    const rpc = values.get(rpcCall);
    if (rpc.failure !== undefined) throw rpc.failure;
    rpc.ended = signal;
    signal.addEventListener('abort', () => rpc.receiving.abort(), { once: true });
    values.set(callerKey, await authenticate(requestHeader.get('authorization') ?? undefined, rpc.origin));
  };
  const respond = async (message: Message, { values, signal }: HandlerContext) => {
    values.get(rpcCall).isReceived = true;
    const caller = values.get(callerKey);
    if (caller === undefined) throw new Error('a call without a caller passed the authentication');
    signal.throwIfAborted();
    const request = values.get(rpcCall).restRequest ?? toJson(method.input, message);
    return fromJson(method.output, await call(caller, request));
  };
  const { handlers } = createConnectRouter({
    acceptCompression: [compressionGzip, compressionBrotli],
    readMaxBytes,
    requestGate: (context) => withConnectErrors(context, authenticateCall(context)),
  }).rpc(method, (message, context) => withConnectErrors(context, respond(message, context)));
  const [handler] = handlers;
  if (handler?.requestPath !== path) throw new Error(`the path of ${method.name} is not ${path}`);
  return handler;
}

/**
 * Returns the client's error if the request did not arrive as a valid message and the protocol's handler wrongly
 * reports INTERNAL. Returns undefined if the handler reports the right error.
 */
export function receiptFailure({ ended, isReceived = false, requestId, origin }: RpcCall): IdentityError | undefined {
  if (ended === undefined || isReceived) return undefined;
  const { reason } = ended;
  if (!(reason instanceof ConnectError)) return toPublicError(reason, requestId, origin.trace);
  // Without this check, the handler's last error, such as a malformed message, would hide the expired deadline.
  if (reason.code === ConnectCode.DeadlineExceeded) return deadlineExceeded();
  const { code, rawMessage } = reason;
  const isReportable = code !== ConnectCode.Internal && rawMessage.isWellFormed();
  return isReportable ? undefined : rpcMalformed({ problem: rawMessage.toWellFormed() });
}

/** Waits for work, and converts its error to a ConnectError, unless it is already a ConnectError. */
async function withConnectErrors<T>(context: HandlerContext, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (reason) {
    if (reason instanceof ConnectError) throw reason;
    const rpc = context.values.get(rpcCall);
    rpc.failure ??= toPublicError(reason, rpc.requestId, rpc.origin.trace);
    throw toConnectError(rpc.failure);
  }
}

/** Converts an error to the form of the RPC protocols (zitadel 6.4). */
function toConnectError(error: IdentityError): ConnectError {
  const connectError = new ConnectError(error.message, codes[error.code].number);
  connectError.details = encodeDetails(error);
  return connectError;
}
