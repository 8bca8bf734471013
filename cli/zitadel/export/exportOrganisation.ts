// The export of one organisation of a ZITADEL.

import { fromJson, type JsonValue, toJson } from '@bufbuild/protobuf';
import { Code, ConnectError, createClient } from '@connectrpc/connect';
import { AdminService, ExportDataRequestSchema, ExportDataResponseSchema } from '@zitadel/proto/zitadel/admin_pb.js';
import { ManagementService } from '@zitadel/proto/zitadel/management_pb.js';
import type { Member } from '@zitadel/proto/zitadel/member_pb.js';
import { z } from 'zod';
import {
  zitadelCallFailed,
  zitadelCannotExport,
  zitadelContextMissing,
  zitadelExportTooSlow,
} from '../../../shared/errors/placeErrors.ts';
import { isJsonObject, type JsonObject, parseIfJson, textAt } from '../../../shared/json/jsonObject.ts';
import { recordKey } from '../../../shared/organisation/recordPlan.ts';
import type { SectionName } from '../../../shared/organisation/section.ts';
import { recordSection } from '../../../shared/organisation/sections.ts';
import { statesOf } from '../../../shared/organisation/states.ts';
import { documentPath } from '../../../shared/store/store.ts';
import { named } from '../../terminal/numberTexts.ts';
import { closables } from '../import/closable.ts';
import type { OrganisationSearches } from '../recordKinds.ts';
import { callMethod, hasContext, isGatewayTimeout, requireContext, rpcError, rpcTransport, searchAll } from '../rpc.ts';
import {
  callError,
  excess,
  isTimeout,
  MAX_RESPONSE_BYTES,
  MESSAGE_TOO_LARGE,
  messageIn,
  send,
  type ZitadelConnection,
} from '../zitadelConnection.ts';

/** The secrets that an export contains. */
interface ExportedSecrets {
  readonly withPasswords: boolean;
  readonly withOtp: boolean;
}

/** Whose grants and memberships the export of an organisation leaves out. */
export interface ExportScope {
  /**
   * Returns the id of the token's user, whose grants and memberships in organisations of others are left out: it owns
   * every organisation that it has created by an import.
   */
  readonly caller: () => Promise<string>;
  /** Returns those users among some who do not move, because their organisations are excluded. */
  readonly stayingUsers: (userIds: readonly string[]) => Promise<ReadonlySet<string>>;
  /** Takes a sentence about memberships that are left out. */
  readonly onLeftOut: (notice: string) => void;
}

/** The default limit of one export: many gateways end longer calls. */
const EXPORT_MS = 60_000;
/** Above the size of an organisation that a ZITADEL exports in time. Memory holds several times as much. */
const MAX_MESSAGE_BYTES = 128_000_000;

export const EXPORT_PATH = '/admin/v1/export';

// Without an organisation, ZITADEL's JSON has no list either.
const exportResponse = z.looseObject({ orgs: z.array(z.record(z.string(), z.unknown())).default([]) });

/**
 * Exports one organisation with its grants and members: over REST, which has the fields of every release, and over
 * gRPC-Web where REST refuses the response's size.
 * @returns undefined if the response does not have the organisation
 * @throws IdentityError DEADLINE_EXCEEDED after `timeoutMs`; ZITADEL_CANNOT_EXPORT where the ZITADEL fails to export it;
 * ZITADEL_HEADER_LOST if it responds for another organisation
 */
export async function exportOne(
  connection: ZitadelConnection,
  orgId: string,
  scope: ExportScope,
  { withPasswords, withOtp }: ExportedSecrets,
  timeoutMs = EXPORT_MS,
): Promise<JsonObject | undefined> {
  const organisation = await exportAlone(connection, orgId, { withPasswords, withOtp }, timeoutMs);
  if (organisation === undefined) return undefined;
  const searches = await searchesOf(connection, orgId);
  const callerId = await scope.caller();
  await addStatesAndGrants(searches, organisation, callerId);
  await addMembers(searches, organisation, callerId, scope);
  return organisation;
}

async function exportAlone(
  connection: ZitadelConnection,
  orgId: string,
  secrets: ExportedSecrets,
  timeoutMs: number,
): Promise<JsonObject | undefined> {
  const request = { orgIds: [orgId], ...secrets, responseOutput: true, timeout: `${timeoutMs}ms` };
  const call = { method: 'POST', path: EXPORT_PATH, body: JSON.stringify(request), timeoutMs } as const;
  const response = await send(connection, call).catch((error: unknown) => {
    if (zitadelCallFailed.is(error))
      throw zitadelCannotExport({ url: connection.origin, orgId, status: 200, message: excess(MAX_RESPONSE_BYTES) });
    throw isTimeout(error) ? zitadelExportTooSlow({ orgId, seconds: timeoutMs / 1_000 }) : error;
  });
  if (response.status === 429 && messageIn(response.text).includes(MESSAGE_TOO_LARGE))
    return exportByRpc(connection, request, orgId, timeoutMs);
  if (response.status === 504) throw zitadelExportTooSlow({ orgId });
  // The request is valid, so 400 is about the organisation's content.
  if (response.status >= 500 || response.status === 400)
    throw zitadelCannotExport({
      url: connection.origin,
      orgId,
      status: response.status,
      message: messageIn(response.text),
    });
  const parsed = response.status === 200 ? exportResponse.safeParse(parseIfJson(response.text)) : undefined;
  if (parsed?.success !== true) throw callError(connection, call, response);
  return organisationIn(parsed.data, orgId);
}

function organisationIn({ orgs }: z.infer<typeof exportResponse>, id: string): JsonObject | undefined {
  return orgs.find(({ orgId }) => orgId === id);
}

async function exportByRpc(
  connection: ZitadelConnection,
  request: JsonValue,
  orgId: string,
  timeoutMs: number,
): Promise<JsonObject | undefined> {
  try {
    const message = fromJson(ExportDataRequestSchema, request);
    const limits = { timeoutMs, maxBytes: MAX_MESSAGE_BYTES };
    const response = await callMethod(connection, AdminService.method.exportData, message, limits);
    return organisationIn(exportResponse.parse(toJson(ExportDataResponseSchema, response.message)), orgId);
  } catch (error) {
    if (isTimeout(error)) throw zitadelExportTooSlow({ orgId, seconds: timeoutMs / 1_000 });
    throw isGatewayTimeout(error) ? zitadelExportTooSlow({ orgId }) : exportError(connection, orgId, error);
  }
}

/** Converts an error of a call over gRPC-Web to one about the organisation, if the others can be exported. */
function exportError(connection: ZitadelConnection, orgId: string, error: unknown): unknown {
  const converted = rpcError(connection, AdminService.method.exportData, error);
  if (!(error instanceof ConnectError && zitadelCallFailed.is(converted))) return converted;
  const { code, rawMessage } = error;
  const isTooLarge = code === Code.ResourceExhausted && rawMessage.includes('readMaxBytes');
  return zitadelCannotExport({
    url: connection.origin,
    orgId,
    status: code,
    message: isTooLarge ? excess(MAX_MESSAGE_BYTES) : rawMessage,
  });
}

// ZITADEL exports grants and members only if all of their references are in the same export. An export of one
// organisation therefore lacks its grants to other organisations, and the members and grants of their users.

const UNKNOWN = 'it exports this organisation, but other calls do not find it';

async function searchesOf(connection: ZitadelConnection, orgId: string): Promise<OrganisationSearches> {
  if (!(await hasContext(connection, orgId)))
    throw zitadelContextMissing({ url: connection.origin, orgId, reason: UNKNOWN });
  const toError = (error: unknown) => exportError(connection, orgId, error);
  return {
    calls: createClient(ManagementService, rpcTransport(connection, { orgId, toError })),
    find: async (ask) => {
      const found = await searchAll(ask);
      for (const { details } of found) requireContext(connection, orgId, details?.resourceOwner);
      return found;
    },
  };
}

/** Adds the states of records, which exports omit, and the grants that the export of one organisation lacks. */
async function addStatesAndGrants(
  searches: OrganisationSearches,
  organisation: JsonObject,
  callerId: string,
): Promise<void> {
  for (const { sections, search } of closables) {
    const records = sections.flatMap((section) => recordsIn(organisation[section]));
    if (search === undefined || (records.length === 0 && search.findsOthers !== true)) continue;
    const found = await search.find(searches, records);
    const [section] = sections;
    if (search.findsOthers === true) {
      const others = found.map(({ json }) => json).filter(({ userId }) => userId !== callerId);
      addMissing(organisation, section, others);
    }
    const keyOf = keyBy(section, organisation);
    const inactive = new Set(found.filter(({ isInactive }) => isInactive).map(({ json }) => keyOf(json)));
    const [, state] = statesOf({ name: section }) ?? [];
    for (const record of sections.flatMap((name) => recordsIn(organisation[name])))
      if (inactive.has(keyOf(record))) record.state = state;
  }
}

/** Adds the members that the export of one organisation lacks because they concern others. */
async function addMembers(
  { calls, find }: OrganisationSearches,
  organisation: JsonObject,
  callerId: string,
  { stayingUsers, onLeftOut }: ExportScope,
): Promise<void> {
  const members = await find((query) => calls.listOrgMembers({ query }));
  const projectMembers: FoundMember[] = [];
  for (const project of recordsIn(organisation.projects)) {
    const projectId = textAt(project, 'projectId', '');
    const found = await find((query) => calls.listProjectMembers({ projectId, query }));
    projectMembers.push(...found.map((member) => ({ of: { projectId }, member })));
  }
  const grantMembers: FoundMember[] = [];
  for (const grant of recordsIn(organisation.projectGrants)) {
    const projectId = textAt(grant, 'projectGrant.projectId', '');
    const grantId = textAt(grant, 'grantId', '');
    const found = await find((query) => calls.listProjectGrantMembers({ projectId, grantId, query }));
    grantMembers.push(...found.map((member) => ({ of: { projectId, grantId }, member })));
  }
  const own = new Set(['humanUsers', 'machineUsers'].flatMap((name) => recordsIn(organisation[name]).map(userIdOf)));
  const orgMembers = members.map((member): FoundMember => ({ of: {}, member }));
  const all = [...orgMembers, ...projectMembers, ...grantMembers];
  const others = new Set(all.map(({ member: { userId } }) => userId)).difference(own);
  others.delete(callerId);
  const staying = others.size === 0 ? others : await stayingUsers([...others]);
  const add = (section: SectionName, found: readonly FoundMember[]) => {
    const moving = found.filter(({ member: { userId } }) => userId !== callerId && !staying.has(userId));
    addMissing(organisation, section, moving.map(memberRecord));
  };
  add('orgMembers', orgMembers);
  add('projectMembers', projectMembers);
  add('projectGrantMembers', grantMembers);
  const leftOut = all.filter(({ member: { userId } }) => staying.has(userId));
  if (leftOut.length > 0) onLeftOut(leftOutText(textAt(organisation, 'orgId', ''), leftOut));
}

/** A membership, and the ids of the project or grant that it is of. */
interface FoundMember {
  readonly of: Readonly<Record<string, string>>;
  readonly member: Member;
}

function leftOutText(orgId: string, leftOut: readonly FoundMember[]): string {
  const texts = leftOut.map(({ of, member: { userId, preferredLoginName, roles } }) =>
    [`${named(userId, preferredLoginName)} is ${roles.join(', ')}`, ...Object.values(of)].join(' of '),
  );
  return `memberships in organisation ${orgId} of users whose organisation stays do not move: ${texts.join('; ')}`;
}

function userIdOf(record: JsonObject): string {
  return textAt(record, 'userId', '');
}

/** Returns the function that identifies an organisation's records of a section. */
function keyBy(name: SectionName, { orgId }: JsonObject): (record: JsonObject) => string {
  const section = recordSection(name);
  return (json) => documentPath(recordKey({ section, json, orgId: String(orgId) }));
}

/** Adds the records that a section of an export lacks. */
function addMissing(organisation: JsonObject, section: SectionName, found: readonly JsonObject[]): void {
  const records = recordsIn(organisation[section]);
  const keyOf = keyBy(section, organisation);
  const byKey = new Map([...found, ...records].map((record) => [keyOf(record), record]));
  for (const record of records) byKey.delete(keyOf(record));
  if (byKey.size > 0) organisation[section] = [...records, ...byKey.values()];
}

/** Returns the records of a section of an exported organisation. */
export function recordsIn(section: unknown): JsonObject[] {
  return Array.isArray(section) ? section.filter(isJsonObject) : [];
}

function memberRecord({ of, member: { userId, roles } }: FoundMember): JsonObject {
  return { ...of, userId, roles };
}
