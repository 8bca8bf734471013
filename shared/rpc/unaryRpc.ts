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

/** A method with a single request and a single response. Both are JSON in protobuf's mapping, as on the REST route. */
export interface UnaryRpc<Caller> {
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
   * The request that a REST route received. The contract validates it. Absent for an RPC, because the body of an RPC
   * contains the request.
   */
  readonly restRequest?: JsonObject;
  /** The error of the call; undefined if the call succeeded, or if the handler of the protocol rejected it. */
  failure?: IdentityError;
  /**
   * Aborts when the handler of the protocol ends the call. If the call failed, the reason of the signal is the error.
   */
  ended?: AbortSignal;
  /** Aborts when the handler no longer needs the body, which may never arrive completely. */
  readonly receiving: AbortController;
  isReceived?: boolean;
}

export const rpcCall = createContextKey<RpcCall>({ requestId: '', origin: {}, receiving: new AbortController() });

/**
 * The maximum size of a message after decompression. A message with a user id and some unknown fields is much smaller.
 */
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
 * Returns the error to report if no valid message arrived, because the handler of the protocol would wrongly report
 * INTERNAL for some of these errors. Returns undefined if the handler's error is right.
 */
export function receiptFailure({ ended, isReceived = false, requestId, origin }: RpcCall): IdentityError | undefined {
  if (ended === undefined || isReceived) return undefined;
  const { reason } = ended;
  if (!(reason instanceof ConnectError)) return toPublicError(reason, requestId, origin.trace);
  // Check the deadline first. Otherwise, the response would contain the last error of the handler, such as a malformed
  // message, instead of the expired deadline.
  if (reason.code === ConnectCode.DeadlineExceeded) return deadlineExceeded();
  const { code, rawMessage } = reason;
  const isReportable = code !== ConnectCode.Internal && rawMessage.isWellFormed();
  return isReportable ? undefined : rpcMalformed({ problem: rawMessage.toWellFormed() });
}

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

/**
 * Converts an error to a `ConnectError`, from which the library creates the error of each RPC protocol (zitadel 6.4).
 */
function toConnectError(error: IdentityError): ConnectError {
  const connectError = new ConnectError(error.message, codes[error.code].number);
  connectError.details = encodeDetails(error);
  return connectError;
}
