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

// ZITADEL also has a gateway for REST, which this module does not use. The gateway rejects an id in a path if the id
// contains a slash, or a character other than printable ASCII. If the header that selects an organisation contains such
// an id, the gateway ignores the header, and uses the organisation of the caller instead. The gateway also limits
// responses to 4 MiB.

/**
 * The maximum size of a request, and the default maximum size of a response. Exports set a higher limit for responses.
 */
const MAX_RESPONSE_BYTES = 64_000_000;

interface RpcOptions {
  /** The organisation that the call's header selects. If absent, ZITADEL uses the organisation of the token's user. */
  readonly orgId?: string | undefined;
  /** A time limit in milliseconds for this call alone. If the call exceeds it, the call is not repeated. */
  readonly timeoutMs?: number;
  readonly maxBytes?: number;
}

/**
 * Calls an idempotent method. Repeats the call if ZITADEL is unavailable.
 * @throws ConnectError if ZITADEL returns an error
 * @throws DOMException (TimeoutError) if the call exceeds its own time limit
 * @throws IdentityError if a gateway responds, if all attempts time out, or if a header cannot contain the
 * organisation's id
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
  // A call with its own time limit is not repeated after a gateway's timeout, because it would exceed the gateway's
  // limit again.
  const isTransient = (error: unknown) =>
    error instanceof ConnectError && (isUnavailable(error) || (timeoutMs === undefined && isGatewayTimeout(error)));
  return await retried(connection, callName(method), timeoutMs, attempt, isTransient);
}

/**
 * If a gateway has responded, returns the gateway's error. If ZITADEL asks the caller to wait, returns an error that
 * contains the time to wait. Returns any other error unchanged.
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

export function callName({ parent, name }: DescMethod): string {
  return `POST /${parent.typeName}/${name}`;
}

const MEDIA_TYPE = 'application/grpc-web+proto';

/**
 * Uses the HTTP client of this command, because Connect's own client would encode the bytes of a header a second time.
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

/** Statuses of a server that is not ready. Connect converts them to errors. */
const STATUSES_OF_OUTAGES = new Set([429, 502, 503, 504]);

/** The number of bytes that the command reads of a gateway's page, to find an error text in it. */
const MAX_PAGE_BYTES = 100_000;

/**
 * Statuses with which a gateway may respond instead of ZITADEL, because it returns a page of its own or does not
 * forward gRPC-Web.
 */
const STATUSES_OF_OTHERS = new Set([200, 404, 405, 415]);

/**
 * Requires that the response is gRPC-Web and not a gateway's own response. Without this check, Connect would decode any
 * content.
 * @throws IdentityError or ConnectError if a gateway has responded instead of ZITADEL
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

/** The id's UTF-8 bytes are the value of the header, as ZITADEL expects. */
function contextHeader({ origin }: ZitadelConnection, orgId: string | undefined): Readonly<Record<string, string>> {
  if (orgId === undefined) return {};
  // HTTP drops spaces at the beginning and end of a header. So the header would select another organisation or none.
  if (/^ | $|\p{Cc}/u.test(orgId))
    throw zitadelContextMissing({
      url: origin,
      orgId,
      reason: 'no HTTP header can contain the id of the organisation',
    });
  return { 'x-zitadel-orgid': Buffer.from(orgId).toString('latin1') };
}

/** Whether a call has no response, or a response from a server that is not ready. */
function isUnavailable(error: ConnectError): boolean {
  return error.cause !== undefined || (error.code === Code.Unavailable && !isGatewayTimeout(error));
}

export function isGatewayTimeout(error: unknown): boolean {
  return error instanceof ConnectError && error.rawMessage === errorTexts.gatewayTimeout;
}

/** Converts an error of Connect to an IdentityError. Returns any other error unchanged. */
export function rpcError(connection: ZitadelConnection, method: DescMethod, error: unknown): unknown {
  if (!(error instanceof ConnectError)) return error;
  const { origin, tokenOption } = connection;
  const { code, cause } = error;
  const message = plainMessage(error.rawMessage);
  if (code === Code.Unauthenticated) return placeTokenRejected(origin, connection, message);
  // If the caller has no role anywhere, ZITADEL does not respond that the permission is missing, but that the requested
  // record is not found.
  if (code === Code.PermissionDenied || hasErrorId(message, errorIds.noMembership))
    return placeTokenForbidden(origin, tokenOption, message);
  if (cause instanceof IdentityError) return cause;
  if (isUnavailable(error))
    return placeUnreachable({ place: origin, reason: cause === undefined ? message : connectionReason(cause) });
  return zitadelCallFailed({ url: origin, call: callName(method), status: Code[code], message });
}

interface ClientOptions extends Pick<RpcOptions, 'orgId'> {
  /** Converts an error of a call. If absent, `rpcError` converts it. */
  readonly toError?: (error: unknown) => unknown;
}

/** The methods of the client throw IdentityErrors. */
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
 * Whether ZITADEL accepts a header that selects the given organisation. Returns false if ZITADEL does not have this
 * organisation, or does not have it yet.
 * @throws IdentityError ZITADEL_HEADER_LOST if ZITADEL uses another organisation instead
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
 * Requires that a result belongs to the organisation that the header has selected.
 * @throws IdentityError ZITADEL_HEADER_LOST if the result belongs to another organisation
 */
export function requireContext({ origin }: ZitadelConnection, orgId: string, owner = 'unknown'): void {
  if (owner !== orgId) throw zitadelHeaderLost({ url: origin, orgId, answered: owner });
}

/**
 * Requires that a response contains a field that every release of ZITADEL sends.
 * @throws IdentityError ZITADEL_CALL_FAILED if the response lacks this field
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

export type SearchPage<Result> = (query: {
  readonly offset: bigint;
  readonly limit: number;
  readonly asc: boolean;
}) => Promise<{ readonly result: readonly Result[]; readonly details?: { readonly totalResult: bigint } | undefined }>;

/**
 * ZITADEL may return pages that are shorter than requested. So a short page ends the search only if all results have
 * been read.
 */
export async function searchAll<Result>(find: SearchPage<Result>): Promise<Result[]> {
  const results: Result[] = [];
  for (;;) {
    const { result, details } = await find({ offset: BigInt(results.length), limit: RESULTS_PER_PAGE, asc: true });
    results.push(...result);
    const isShort = result.length < RESULTS_PER_PAGE && results.length >= Number(details?.totalResult ?? 0);
    if (isShort || result.length === 0) return results;
  }
}
