// Calls of ZITADEL over gRPC-Web.

import type { DescMessage, DescMethod, DescMethodUnary, DescService, MessageInitShape } from '@bufbuild/protobuf';
import { type Client, Code, ConnectError, createClient, type Transport, type UnaryResponse } from '@connectrpc/connect';
import { createTransport } from '@connectrpc/connect/protocol-grpc-web';
import { ManagementService } from '@zitadel/proto/zitadel/management_pb.js';
import { IdentityError } from '../../shared/errors/identityError.ts';
import {
  placeTokenForbidden,
  placeTokenRejected,
  placeUnavailable,
  placeUnreachable,
  zitadelCallFailed,
  zitadelContextMissing,
  zitadelHeaderLost,
} from '../../shared/errors/placeErrors.ts';
import { parseRetryAfter } from '../../shared/retry.ts';
import { gatewayError } from '../http/gatewayResponse.ts';
import { callServer, type HttpResponse, readErrorText } from '../http/httpClient.ts';
import { isConnectionLost } from '../http/reconnection.ts';
import { connectionReason } from '../http/tls.ts';
import { errorIds, errorTexts, hasErrorId } from './errorIds.ts';
import { plainMessage, retried, type ZitadelConnection } from './zitadelConnection.ts';

// This module uses gRPC-Web instead of the REST gateway. The gateway rejects ids in paths that contain slashes or
// characters other than printable ASCII. If the organisation header contains such an id, the gateway ignores the header
// and uses the caller's own organisation. The gateway also limits responses to 4 MiB.

/** The maximum size of requests and responses. Exports use a higher limit. */
const MAX_RESPONSE_BYTES = 64_000_000;

/** The options of a call over gRPC-Web. */
interface RpcOptions {
  /** The organisation in whose context ZITADEL handles the call; by default the organisation of the token's user. */
  readonly orgId?: string | undefined;
  /** The call's own time limit in milliseconds. A call that exceeds it is not repeated. */
  readonly timeoutMs?: number;
  readonly maxBytes?: number;
}

/**
 * Calls an idempotent method, and retries it if ZITADEL is unavailable.
 * @throws ConnectError with ZITADEL's error; `DOMException` TimeoutError if the call exceeds its own time limit;
 * IdentityError if a gateway responds, if all attempts time out, or if no header can contain the organisation's id
 */
export async function callMethod<Input extends DescMessage, Output extends DescMessage>(
  connection: ZitadelConnection,
  method: DescMethodUnary<Input, Output>,
  message: MessageInitShape<Input>,
  { orgId, timeoutMs, maxBytes = MAX_RESPONSE_BYTES }: RpcOptions = {},
): Promise<UnaryResponse<Input, Output>> {
  const headers = contextHeader(connection, orgId);
  const transport = webTransport(connection, maxBytes);
  const attempt = (signal: AbortSignal) =>
    transport.unary(method, signal, undefined, headers, message).catch((error: unknown) => {
      throw withoutTransport(connection, error);
    });
  // A repeated long call would exceed the gateway's time limit again.
  const isTransient = (error: unknown) =>
    error instanceof ConnectError && (isUnavailable(error) || (timeoutMs === undefined && isGatewayTimeout(error)));
  return await retried(connection, callName(method), timeoutMs, attempt, isTransient);
}

/**
 * Converts the transport's error to the error of a gateway, or to an error with a delay if ZITADEL asks to retry later.
 * Returns other errors unchanged.
 */
function withoutTransport({ origin: place }: ZitadelConnection, error: unknown): unknown {
  if (!(error instanceof ConnectError)) return error;
  const { cause, code, metadata, rawMessage } = error;
  if (cause instanceof IdentityError && !isConnectionLost(cause)) return cause;
  if (code !== Code.Unavailable && code !== Code.ResourceExhausted) return error;
  const retryAfterSeconds = parseRetryAfter(metadata.get('retry-after'), Date.now());
  if (retryAfterSeconds === undefined) return error;
  return placeUnavailable({ place, reason: plainMessage(rawMessage) }, { retryAfterSeconds });
}

/** Returns the name of a call for messages. */
export function callName({ parent, name }: DescMethod): string {
  return `POST /${parent.typeName}/${name}`;
}

const MEDIA_TYPE = 'application/grpc-web+proto';

/**
 * Creates a transport that uses the command's own HTTP client, because Connect's client would encode header bytes a
 * second time.
 */
function webTransport({ origin, token, signal }: ZitadelConnection, readMaxBytes: number): Transport {
  return createTransport({
    baseUrl: origin,
    readMaxBytes,
    writeMaxBytes: MAX_RESPONSE_BYTES,
    useBinaryFormat: true,
    interceptors: [],
    acceptCompression: [],
    sendCompression: null,
    compressMinBytes: 0,
    async httpClient({ url, header, body = [], signal: ends = signal }) {
      const headers = Object.fromEntries(header);
      const call = { method: 'POST', path: new URL(url).pathname, token, headers, body } as const;
      const response = await callServer(origin, { ...call, accept: MEDIA_TYPE, contentType: MEDIA_TYPE }, ends);
      await requireRpc(origin, response);
      const received = new Headers();
      for (const [name, value] of Object.entries(response.headers))
        if (typeof value === 'string') received.set(name, value);
      return { status: response.status, header: received, body: streamBody(response), trailer: new Headers() };
    },
  });
}

/** Statuses of a server that is not ready. The transport converts them to errors. */
const STATUSES_OF_OUTAGES = new Set([429, 502, 503, 504]);

/** The number of bytes of a gateway's page in which the command looks for an error text. */
const MAX_PAGE_BYTES = 100_000;

/** Statuses of a gateway that responds with its own page, or that does not forward gRPC-Web. */
const STATUSES_OF_OTHERS = new Set([200, 404, 405, 415]);

/**
 * Requires that a response comes from a gRPC-Web server, because Connect would decode any content.
 * @throws IdentityError or ConnectError for the response of a gateway
 */
async function requireRpc(origin: string, response: HttpResponse): Promise<void> {
  const { 'content-type': type = '' } = response.headers;
  if (type.startsWith('application/grpc-web') || STATUSES_OF_OUTAGES.has(response.status)) return;
  if (!STATUSES_OF_OTHERS.has(response.status)) {
    await using page = response;
    throw gatewayError(origin, page, await readErrorText(page, MAX_PAGE_BYTES));
  }
  await response[Symbol.asyncDispose]();
  const problem = `HTTP ${response.status} with the content type ${type || 'none'} instead of ${MEDIA_TYPE}`;
  throw new ConnectError(`${problem}: configure gateways to forward gRPC-Web to ZITADEL`, Code.Unknown);
}

async function* streamBody(response: HttpResponse): AsyncGenerator<Uint8Array> {
  await using read = response;
  yield* read.body;
}

/** Returns the header that selects an organisation. ZITADEL decodes the header's bytes as UTF-8. */
function contextHeader({ origin }: ZitadelConnection, orgId: string | undefined): Readonly<Record<string, string>> {
  if (orgId === undefined) return {};
  // HTTP removes spaces around a header value, so the header would contain the id of another organisation or an empty
  // id.
  if (/^ | $|\p{Cc}/u.test(orgId))
    throw zitadelContextMissing({ url: origin, orgId, reason: 'no HTTP header can contain its id' });
  return { 'x-zitadel-orgid': Buffer.from(orgId).toString('latin1') };
}

/** Whether a call had no response, or a response from a server that is not ready. */
function isUnavailable(error: ConnectError): boolean {
  return error.cause !== undefined || (error.code === Code.Unavailable && !isGatewayTimeout(error));
}

/** Whether a gateway ended a call because it took too long. */
export function isGatewayTimeout(error: unknown): boolean {
  return error instanceof ConnectError && error.rawMessage === errorTexts.gatewayTimeout;
}

/** Converts a ConnectError to an IdentityError. Returns other errors unchanged. */
export function rpcError(connection: ZitadelConnection, method: DescMethod, error: unknown): unknown {
  if (!(error instanceof ConnectError)) return error;
  const { origin, tokenOption } = connection;
  const { code, cause } = error;
  const message = plainMessage(error.rawMessage);
  if (code === Code.Unauthenticated) return placeTokenRejected(origin, connection, message);
  // ZITADEL returns "not found" to a caller without any membership.
  if (code === Code.PermissionDenied || hasErrorId(message, errorIds.noMembership))
    return placeTokenForbidden(origin, tokenOption, message);
  if (cause instanceof IdentityError) return cause;
  if (isUnavailable(error))
    return placeUnreachable({ place: origin, reason: cause === undefined ? message : connectionReason(cause) });
  return zitadelCallFailed({ url: origin, call: callName(method), status: Code[code], message });
}

/** The options of all calls of a client. */
interface ClientOptions extends Pick<RpcOptions, 'orgId'> {
  /** Converts the error of a call; by default `rpcError`. */
  readonly toError?: (error: unknown) => unknown;
}

/** Returns a client of one of ZITADEL's services. Its methods throw IdentityErrors. */
export function rpcClient<Service extends DescService>(
  connection: ZitadelConnection,
  service: Service,
  { orgId, toError }: ClientOptions = {},
): Client<Service> {
  return createClient(service, {
    async unary(method, _signal, _timeoutMs, _headers, message) {
      try {
        return await callMethod(connection, method, message, { orgId });
      } catch (error) {
        throw toError === undefined ? rpcError(connection, method, error) : toError(error);
      }
    },
    stream: () => Promise.reject(new Error('ZITADEL has no streams')),
  });
}

/**
 * Whether ZITADEL handles calls in the context of an organisation; false if it does not have that organisation (yet).
 * @throws IdentityError ZITADEL_HEADER_LOST if ZITADEL handles them in the context of another organisation
 */
export async function hasContext(connection: ZitadelConnection, orgId: string): Promise<boolean> {
  const { getMyOrg } = ManagementService.method;
  try {
    const { message } = await callMethod(connection, getMyOrg, {}, { orgId });
    requireContext(connection, orgId, message.org?.id);
    return true;
  } catch (error) {
    if (error instanceof ConnectError && hasErrorId(error.rawMessage, errorIds.noOrganisation)) return false;
    throw rpcError(connection, getMyOrg, error);
  }
}

/**
 * Requires that a result belongs to the requested organisation.
 * @throws IdentityError ZITADEL_HEADER_LOST
 */
export function requireContext({ origin }: ZitadelConnection, orgId: string, owner = 'unknown'): void {
  if (owner !== orgId) throw zitadelHeaderLost({ url: origin, orgId, answered: owner });
}

/**
 * Requires a part of a response that every release of ZITADEL sends.
 * @throws IdentityError ZITADEL_CALL_FAILED if the part is missing
 */
export function requireContent<Value>(
  { origin }: ZitadelConnection,
  method: DescMethod,
  value: Value | undefined,
): Value {
  if (value !== undefined) return value;
  throw zitadelCallFailed({ url: origin, call: callName(method), status: 'OK', message: 'the response is empty' });
}

const RESULTS_PER_PAGE = 100;

/** Reads one page of a search. */
export type SearchPage<Result> = (query: {
  readonly offset: bigint;
  readonly limit: number;
  readonly asc: boolean;
}) => Promise<{ readonly result: readonly Result[]; readonly details?: { readonly totalResult: bigint } | undefined }>;

/**
 * Returns all results of a search. A short page ends the search only if the total is reached, because ZITADEL may
 * return shorter pages than requested.
 */
export async function searchAll<Result>(find: SearchPage<Result>): Promise<Result[]> {
  const all: Result[] = [];
  for (;;) {
    const { result, details } = await find({ offset: BigInt(all.length), limit: RESULTS_PER_PAGE, asc: true });
    all.push(...result);
    const isShort = result.length < RESULTS_PER_PAGE && all.length >= Number(details?.totalResult ?? 0);
    if (isShort || result.length === 0) return all;
  }
}
