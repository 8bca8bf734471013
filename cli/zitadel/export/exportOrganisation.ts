// The export of one organisation of a ZITADEL.

import { fromJson, type JsonValue, toJson } from '@bufbuild/protobuf';
import { type Client, Code, ConnectError, createClient } from '@connectrpc/connect';
import { ActionState } from '@zitadel/proto/zitadel/action_pb.js';
import { AdminService, ExportDataRequestSchema, ExportDataResponseSchema } from '@zitadel/proto/zitadel/admin_pb.js';
import { AppState } from '@zitadel/proto/zitadel/app_pb.js';
import { ManagementService } from '@zitadel/proto/zitadel/management_pb.js';
import type { Member } from '@zitadel/proto/zitadel/member_pb.js';
import { type GrantedProject, ProjectGrantState, ProjectState } from '@zitadel/proto/zitadel/project_pb.js';
import { type UserGrant, UserGrantState } from '@zitadel/proto/zitadel/user_pb.js';
import { z } from 'zod';
import {
  zitadelCallFailed,
  zitadelCannotExport,
  zitadelContextMissing,
  zitadelExportTooSlow,
} from '../../../shared/errors/placeErrors.ts';
import { isJsonObject, type JsonObject, parseIfJson, textAt } from '../../../shared/json/jsonObject.ts';
import type { SectionName } from '../../../shared/organisation/section.ts';
import { named } from '../../numberTexts.ts';
import {
  callMethod,
  hasContext,
  isGatewayTimeout,
  requireContext,
  rpcError,
  rpcTransport,
  type SearchPage,
  searchAll,
} from '../rpc.ts';
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
  await addObjectStates(searches, organisation);
  await addGrantsBetween(searches, organisation, scope);
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

/** A result of a search, with its organisation. */
interface Owned {
  readonly details?: { readonly resourceOwner: string } | undefined;
}

/** The searches of a ZITADEL in the context of an organisation. */
interface OrganisationSearches {
  readonly calls: Client<typeof ManagementService>;
  /** Returns all results of a search, which must belong to the organisation. */
  readonly find: <Found extends Owned>(ask: SearchPage<Found>) => Promise<Found[]>;
}

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

/** Adds the states of projects, applications and actions, which exports omit. */
async function addObjectStates({ calls, find }: OrganisationSearches, organisation: JsonObject): Promise<void> {
  const projects = recordsIn(organisation.projects);
  if (projects.length > 0) {
    const found = await find((query) => calls.listProjects({ query }));
    const inactive = found.filter(({ state }) => state === ProjectState.INACTIVE);
    putState(projects, 'projectId', inactive, 'PROJECT_STATE_INACTIVE');
  }
  const apps = [...recordsIn(organisation.oidcApps), ...recordsIn(organisation.apiApps)];
  for (const projectId of new Set(apps.map((app) => textAt(app, 'app.projectId', '')))) {
    const found = await find((query) => calls.listApps({ projectId, query }));
    const inactive = found.filter(({ state }) => state === AppState.INACTIVE);
    putState(apps, 'appId', inactive, 'APP_STATE_INACTIVE');
  }
  const actions = recordsIn(organisation.actions);
  if (actions.length > 0) {
    const found = await find((query) => calls.listActions({ query }));
    const inactive = found.filter(({ state }) => state === ActionState.INACTIVE);
    putState(actions, 'actionId', inactive, 'ACTION_STATE_INACTIVE');
  }
}

/** Gives the records of some results a state. */
function putState(records: readonly JsonObject[], key: string, of: readonly { id: string }[], state: string): void {
  const ids = new Set(of.map(({ id }) => id));
  for (const record of records) if (ids.has(textAt(record, key, ''))) record.state = state;
}

/** Adds the grants and members that the export of one organisation lacks because they concern others. */
async function addGrantsBetween(
  { calls, find }: OrganisationSearches,
  organisation: JsonObject,
  { caller, stayingUsers, onLeftOut }: ExportScope,
): Promise<void> {
  const callerId = await caller();
  const add = (section: SectionName, key: readonly string[], found: readonly JsonObject[]) =>
    complete(organisation, section, key, found, callerId);
  const grants = await find((query) => calls.listAllProjectGrants({ query }));
  add('projectGrants', ['grantId'], grants.map(projectGrantRecord));
  const userGrants = await find((query) => calls.listUserGrants({ query }));
  add('userGrants', ['userId', 'projectId', 'projectGrantId'], userGrants.map(userGrantRecord));
  const members = await find((query) => calls.listOrgMembers({ query }));
  const projectMembers: FoundMember[] = [];
  for (const project of recordsIn(organisation.projects)) {
    const projectId = textAt(project, 'projectId', '');
    const found = await find((query) => calls.listProjectMembers({ projectId, query }));
    projectMembers.push(...found.map((member) => ({ of: { projectId }, member })));
  }
  const grantMembers: FoundMember[] = [];
  for (const { projectId, grantId } of grants) {
    const found = await find((query) => calls.listProjectGrantMembers({ projectId, grantId, query }));
    grantMembers.push(...found.map((member) => ({ of: { projectId, grantId }, member })));
  }
  const own = new Set(['humanUsers', 'machineUsers'].flatMap((name) => recordsIn(organisation[name]).map(userIdOf)));
  const orgMembers = members.map((member): FoundMember => ({ of: {}, member }));
  const all = [...orgMembers, ...projectMembers, ...grantMembers];
  const others = new Set(all.map(({ member: { userId } }) => userId)).difference(own);
  others.delete(callerId);
  const staying = others.size === 0 ? others : await stayingUsers([...others]);
  const moving = (found: readonly FoundMember[]) =>
    found.filter(({ member: { userId } }) => !staying.has(userId)).map(memberRecord);
  add('orgMembers', ['userId'], moving(orgMembers));
  add('projectMembers', ['projectId', 'userId'], moving(projectMembers));
  add('projectGrantMembers', ['grantId', 'userId'], moving(grantMembers));
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

/**
 * Adds the records that a section of an export lacks, and the states that it omits.
 * @param key the fields that identify a record
 * @param callerId the user whose records are not added
 */
function complete(
  organisation: JsonObject,
  section: SectionName,
  key: readonly string[],
  found: readonly JsonObject[],
  callerId: string,
): void {
  const records = recordsIn(organisation[section]);
  const keyOf = (record: JsonObject) => JSON.stringify(key.map((field) => textAt(record, field, '')));
  const byKey = new Map(records.map((record) => [keyOf(record), record]));
  for (const record of found) {
    const existing = byKey.get(keyOf(record));
    if (existing === undefined) {
      if (record.userId === callerId) continue;
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

function memberRecord({ of, member: { userId, roles } }: FoundMember): JsonObject {
  return { ...of, userId, roles };
}

function projectGrantRecord({ grantId, projectId, grantedOrgId, grantedRoleKeys, state }: GrantedProject): JsonObject {
  const roles = grantedRoleKeys.length === 0 ? {} : { roleKeys: grantedRoleKeys };
  const inactive = state === ProjectGrantState.INACTIVE ? { state: 'PROJECT_GRANT_STATE_INACTIVE' } : {};
  return { grantId, projectGrant: { projectId, grantedOrgId, ...roles }, ...inactive };
}

function userGrantRecord({ userId, projectId, projectGrantId, roleKeys, state }: UserGrant): JsonObject {
  const grant = projectGrantId === '' ? {} : { projectGrantId };
  const roles = roleKeys.length === 0 ? {} : { roleKeys };
  const inactive = state === UserGrantState.INACTIVE ? { state: 'USER_GRANT_STATE_INACTIVE' } : {};
  return { userId, projectId, ...grant, ...roles, ...inactive };
}
