import { fromJson, type JsonValue, toJson } from '@bufbuild/protobuf';
import { Code, ConnectError, createClient, type Interceptor } from '@connectrpc/connect';
import { createGrpcWebTransport } from '@connectrpc/connect-node';
import { AdminService, ExportDataRequestSchema, ExportDataResponseSchema } from '@zitadel/proto/zitadel/admin_pb.js';
import { z } from 'zod';
import {
  placeTokenForbidden,
  placeTokenRejected,
  placeUnreachable,
  zitadelCallFailed,
  zitadelCannotExport,
  zitadelExportTooSlow,
} from '../../../shared/errors/placeErrors.ts';
import { isJsonObject, type JsonObject, parseIfJson, textAt } from '../../../shared/json/jsonObject.ts';
import { connectionReason } from '../../tls.ts';
import { callError, excess, MAX_ANSWER_BYTES, messageIn, search, send, type ZitadelConnection } from '../connection.ts';

/** What an export holds beside the records. */
interface ExportedSecrets {
  readonly withPasswords: boolean;
  readonly withOtp: boolean;
}

/** The gateways before a ZITADEL cut off longer calls. */
const MAX_EXPORT_MS = 60_000;
/** The gateway's text of a message above its limit of 4 MiB. Over gRPC-Web no gateway is in between. */
const TOO_LARGE = 'received message larger than max';
/** More than an organisation with which a ZITADEL is done in time. Memory holds several times as much. */
const MAX_MESSAGE_BYTES = 128_000_000;

const file = z.looseObject({ orgs: z.array(z.record(z.string(), z.unknown())).default([]) });

/**
 * Exports one organisation with all of its grants and members: over REST, which has the fields of every release, and over
 * gRPC-Web where REST refuses the response's size.
 * @returns undefined if the ZITADEL does not have the organisation
 * @throws IdentityError DEADLINE_EXCEEDED after `timeoutMs`; ZITADEL_CANNOT_EXPORT where the ZITADEL fails to export it
 */
export async function exportOne(
  connection: ZitadelConnection,
  orgId: string,
  { withPasswords, withOtp }: ExportedSecrets,
  timeoutMs = MAX_EXPORT_MS,
): Promise<JsonObject | undefined> {
  const organisation = await exportAlone(connection, orgId, { withPasswords, withOtp }, timeoutMs);
  if (organisation !== undefined) await addGrantsBetween(connection, orgId, organisation);
  return organisation;
}

async function exportAlone(
  connection: ZitadelConnection,
  orgId: string,
  secrets: ExportedSecrets,
  timeoutMs: number,
): Promise<JsonObject | undefined> {
  const request = { orgIds: [orgId], ...secrets, responseOutput: true, timeout: `${timeoutMs}ms` };
  const call = { method: 'POST', path: '/admin/v1/export', body: JSON.stringify(request), timeoutMs } as const;
  const answer = await send(connection, call).catch((error: unknown) => {
    if (zitadelCallFailed.is(error))
      throw zitadelCannotExport(connection.baseUrl, orgId, 200, excess(MAX_ANSWER_BYTES));
    throw isTimeout(error) ? zitadelExportTooSlow(orgId, timeoutMs / 1_000) : error;
  });
  if (answer.status === 429 && messageIn(answer.text).includes(TOO_LARGE))
    return exportByRpc(connection, request, orgId, timeoutMs);
  if (answer.status === 504) throw zitadelExportTooSlow(orgId, timeoutMs / 1_000);
  if (answer.status >= 500) throw zitadelCannotExport(connection.baseUrl, orgId, answer.status, messageIn(answer.text));
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
  const transport = createGrpcWebTransport({
    baseUrl,
    httpVersion: '1.1',
    interceptors: [authorise],
    readMaxBytes: MAX_MESSAGE_BYTES,
  });
  const limit = AbortSignal.timeout(timeoutMs);
  const options = { signal: AbortSignal.any([signal, limit]) };
  try {
    const message = fromJson(ExportDataRequestSchema, request);
    const response = await createClient(AdminService, transport).exportData(message, options);
    return file.parse(toJson(ExportDataResponseSchema, response)).orgs[0];
  } catch (error) {
    signal.throwIfAborted();
    if (limit.aborted) throw zitadelExportTooSlow(orgId, timeoutMs / 1_000);
    throw error instanceof ConnectError ? rpcError(connection, orgId, error) : error;
  }
}

function rpcError({ baseUrl, tokenOption }: ZitadelConnection, orgId: string, error: ConnectError): Error {
  const { code, rawMessage } = error;
  if (code === Code.Unauthenticated) return placeTokenRejected(baseUrl, tokenOption, rawMessage);
  if (code === Code.PermissionDenied) return placeTokenForbidden(baseUrl, tokenOption, rawMessage);
  if (code === Code.Unavailable || code === Code.Aborted)
    return placeUnreachable(baseUrl, connectionReason(error.cause));
  const isTooLarge = code === Code.ResourceExhausted && rawMessage.includes('readMaxBytes');
  return zitadelCannotExport(baseUrl, orgId, code, isTooLarge ? excess(MAX_MESSAGE_BYTES) : rawMessage);
}

function isTimeout(error: unknown): boolean {
  return error instanceof DOMException && error.name === 'TimeoutError';
}

// ZITADEL exports grants and members only where everything that they name is in the same export. An export of one
// organisation therefore lacks its grants to other organisations, and the members and grants of their users.

const text = z.string();
const texts = z.array(z.string()).default([]);
const projectGrant = z.looseObject({
  grantId: text,
  grantedOrgId: text,
  projectId: text,
  grantedRoleKeys: texts,
  state: text.default(''),
});
const userGrant = z.looseObject({
  userId: text,
  projectId: text,
  projectGrantId: text.optional(),
  roleKeys: texts,
  state: text.default(''),
});
const member = z.looseObject({ userId: text, roles: texts });
type ProjectGrant = z.infer<typeof projectGrant>;

/** Adds the grants and members that the export of one organisation lacks because they concern others. */
async function addGrantsBetween(connection: ZitadelConnection, orgId: string, organisation: JsonObject): Promise<void> {
  const find = <Result>(path: string, result: z.ZodType<Result>) =>
    Array.fromAsync(search(connection, { path: `/management/v1/${path}/_search`, orgId, result }));
  const grants = await find('projectgrants', projectGrant);
  complete(organisation, 'projectGrants', ['grantId'], grants.map(projectGrantRecord));
  const userGrants = await find('users/grants', userGrant);
  complete(organisation, 'userGrants', ['userId', 'projectId', 'projectGrantId'], userGrants.map(userGrantRecord));
  complete(organisation, 'orgMembers', ['userId'], (await find('orgs/me/members', member)).map(memberRecord));
  const projectMembers: JsonObject[] = [];
  for (const project of recordsIn(organisation.projects)) {
    const projectId = textAt(project, 'projectId', '');
    const found = await find(`projects/${encodeURIComponent(projectId)}/members`, member);
    projectMembers.push(...found.map((one) => ({ projectId, ...memberRecord(one) })));
  }
  complete(organisation, 'projectMembers', ['projectId', 'userId'], projectMembers);
  const grantMembers: JsonObject[] = [];
  for (const { projectId, grantId } of grants) {
    const path = `projects/${encodeURIComponent(projectId)}/grants/${encodeURIComponent(grantId)}/members`;
    const found = await find(path, member);
    grantMembers.push(...found.map((one) => ({ projectId, grantId, ...memberRecord(one) })));
  }
  complete(organisation, 'projectGrantMembers', ['grantId', 'userId'], grantMembers);
}

/**
 * Adds the records that a section of an export lacks, and the states that it omits.
 * @param key the fields by which records are told apart
 */
function complete(
  organisation: JsonObject,
  section: string,
  key: readonly string[],
  found: readonly JsonObject[],
): void {
  const records = recordsIn(organisation[section]);
  const keyOf = (record: JsonObject) => JSON.stringify(key.map((field) => textAt(record, field, '')));
  const byKey = new Map(records.map((record) => [keyOf(record), record]));
  for (const record of found) {
    const existing = byKey.get(keyOf(record));
    if (existing === undefined) {
      byKey.set(keyOf(record), record);
      records.push(record);
    } else if (record.state !== undefined) existing.state = record.state;
  }
  if (records.length > 0) organisation[section] = records;
}

/** Returns the records of a section of an exported organisation. */
export function recordsIn(section: unknown): JsonObject[] {
  return Array.isArray(section) ? section.filter(isJsonObject) : [];
}

function memberRecord({ userId, roles }: z.infer<typeof member>): JsonObject {
  return { userId, roles };
}

function projectGrantRecord({ grantId, projectId, grantedOrgId, grantedRoleKeys, state }: ProjectGrant): JsonObject {
  const roles = grantedRoleKeys.length === 0 ? {} : { roleKeys: grantedRoleKeys };
  return { grantId, projectGrant: { projectId, grantedOrgId, ...roles }, ...inactive(state) };
}

function userGrantRecord({
  userId,
  projectId,
  projectGrantId,
  roleKeys,
  state,
}: z.infer<typeof userGrant>): JsonObject {
  const grant = projectGrantId ? { projectGrantId } : {};
  return { userId, projectId, ...grant, ...(roleKeys.length === 0 ? {} : { roleKeys }), ...inactive(state) };
}

/** The additional field `state` of this service's files: ZITADEL's exports lose it. */
function inactive(state: string): { readonly state?: string } {
  return state.endsWith('_INACTIVE') ? { state } : {};
}
