import { fromJson, type JsonValue, toJson } from '@bufbuild/protobuf';
import { Code, ConnectError, createClient, type Interceptor } from '@connectrpc/connect';
import { createGrpcWebTransport } from '@connectrpc/connect-node';
import { AdminService, ExportDataRequestSchema, ExportDataResponseSchema } from '@zitadel/proto/zitadel/admin_pb.js';
import { z } from 'zod';
import { placeTokenForbidden, placeTokenRejected, placeUnreachable } from '../../../shared/errors/placeErrors.ts';
import { zitadelCallFailed, zitadelExportTooSlow } from '../../../shared/errors/zitadelErrors.ts';
import type { JsonObject } from '../../../shared/json/jsonObject.ts';
import { parseIfJson } from '../../../shared/json/parseIfJson.ts';
import { connectionReason } from '../../httpClient.ts';
import { callError, messageIn, send, type ZitadelConnection } from '../connection.ts';

/** What an export holds beside the records. */
interface ExportedSecrets {
  readonly withPasswords: boolean;
  readonly withOtp: boolean;
}

/** The gateways before a ZITADEL cut off longer calls. */
const MAX_EXPORT_MS = 60_000;
/** The gateway's text of a message above its limit of 4 MiB. Over gRPC-Web no gateway is in between. */
const TOO_LARGE = 'received message larger than max';

const file = z.looseObject({ orgs: z.array(z.record(z.string(), z.unknown())).default([]) });

/**
 * Exports one organisation: over REST, which has the fields of every release, and over gRPC-Web where REST refuses the
 * response's size.
 * @returns undefined if the ZITADEL does not have the organisation
 * @throws IdentityError DEADLINE_EXCEEDED after `timeoutMs`
 */
export async function exportOne(
  connection: ZitadelConnection,
  orgId: string,
  { withPasswords, withOtp }: ExportedSecrets,
  timeoutMs = MAX_EXPORT_MS,
): Promise<JsonObject | undefined> {
  const request = { orgIds: [orgId], withPasswords, withOtp, responseOutput: true, timeout: `${timeoutMs}ms` };
  const call = { method: 'POST', path: '/admin/v1/export', body: JSON.stringify(request), timeoutMs } as const;
  const answer = await send(connection, call).catch((error: unknown) => {
    throw isTimeout(error) ? zitadelExportTooSlow(orgId, timeoutMs / 1_000) : error;
  });
  if (answer.status === 429 && messageIn(answer.text).includes(TOO_LARGE))
    return exportByRpc(connection, request, orgId, timeoutMs);
  if (answer.status === 504) throw zitadelExportTooSlow(orgId, timeoutMs / 1_000);
  const parsed = answer.status === 200 ? file.safeParse(parseIfJson(answer.text)) : undefined;
  if (parsed?.success !== true) throw callError(connection, call, answer);
  return parsed.data.orgs[0];
}

async function exportByRpc(
  connection: ZitadelConnection,
  request: JsonValue,
  orgId: string,
  timeoutMs: number,
): Promise<JsonObject | undefined> {
  const { baseUrl, token, signal } = connection;
  const authorise: Interceptor = (next) => (call) => {
    call.header.set('authorization', `Bearer ${token ?? ''}`);
    return next(call);
  };
  const transport = createGrpcWebTransport({ baseUrl, httpVersion: '1.1', interceptors: [authorise] });
  const limit = AbortSignal.timeout(timeoutMs);
  const options = { signal: AbortSignal.any([signal, limit]) };
  try {
    const message = fromJson(ExportDataRequestSchema, request);
    const response = await createClient(AdminService, transport).exportData(message, options);
    return file.parse(toJson(ExportDataResponseSchema, response)).orgs[0];
  } catch (error) {
    signal.throwIfAborted();
    if (limit.aborted) throw zitadelExportTooSlow(orgId, timeoutMs / 1_000);
    throw error instanceof ConnectError ? rpcError(connection, error) : error;
  }
}

function rpcError({ baseUrl, tokenOption }: ZitadelConnection, error: ConnectError): Error {
  const { code, rawMessage } = error;
  if (code === Code.Unauthenticated) return placeTokenRejected(baseUrl, tokenOption, rawMessage);
  if (code === Code.PermissionDenied) return placeTokenForbidden(baseUrl, tokenOption, rawMessage);
  if (code === Code.Unavailable || code === Code.Aborted)
    return placeUnreachable(baseUrl, connectionReason(error.cause));
  return zitadelCallFailed(baseUrl, 'ExportData over gRPC-Web', code, rawMessage);
}

function isTimeout(error: unknown): boolean {
  return error instanceof DOMException && error.name === 'TimeoutError';
}
