import { isMessage, toJson } from '@bufbuild/protobuf';
import { Code, ConnectError } from '@connectrpc/connect';
import { AdminService, DataOrgSchema } from '@zitadel/proto/zitadel/admin_pb.js';
import { ManagementService } from '@zitadel/proto/zitadel/management_pb.js';
import type { Member } from '@zitadel/proto/zitadel/member_pb.js';
import {
  tokenForbidden,
  zitadelCallFailed,
  zitadelCannotExport,
  zitadelContextMissing,
  zitadelExportTooSlow,
} from '../../../shared/errors/placeErrors.ts';
import { type RecordWarning, warn } from '../../../shared/errors/warnings.ts';
import { isJsonObject, type JsonObject, textAt, textsAt } from '../../../shared/json/jsonObject.ts';
import { recordSection, recordSections } from '../../../shared/organisation/allSections.ts';
import { recordKey } from '../../../shared/organisation/recordPlan.ts';
import type { SectionName } from '../../../shared/organisation/sections/section.ts';
import { statesOf } from '../../../shared/organisation/states.ts';
import { documentPath } from '../../../shared/store/store.ts';
import { named } from '../../terminal/numberTexts.ts';
import { errorTexts } from '../errorIds.ts';
import { closables } from '../import/closable.ts';
import type { OrganisationSearches } from '../recordKinds.ts';
import { callMethod, hasContext, isGatewayTimeout, requireContext, rpcClient, rpcError, searchAll } from '../rpc.ts';
import { isTimeout, plainMessage, type ZitadelConnection } from '../zitadelConnection.ts';

interface ExportedSecrets {
  readonly withPasswords: boolean;
  readonly withOtp: boolean;
}

/** Decides which grants and memberships the export of an organisation leaves out, and receives reports about them. */
export interface ExportScope {
  /**
   * Returns the id of the token's user. ZITADEL makes this user an owner of every organisation that the user imports.
   * So the export leaves out the grants and memberships of this user in other organisations.
   */
  readonly caller: () => Promise<string>;
  /** The ids of organisations that the export leaves out. */
  readonly stayingOrganisations: ReadonlySet<string>;
  /** Returns those of the given users whose organisations the export leaves out. */
  readonly stayingUsers: (userIds: readonly string[]) => Promise<ReadonlySet<string>>;
  /** Called with a section of which the export lacks records, or may lack records. */
  readonly onIncomplete: (section: SectionName) => void;
  readonly onUsersLeftOut: (userIds: Iterable<string>) => void;
  readonly onLeftOut: (notice: RecordWarning) => void;
}

/** The default time limit for the export of one organisation. Many gateways end a call that takes longer. */
const EXPORT_MS = 60_000;
/**
 * The maximum size of a response. It limits the memory of the command, which is several times the size of the response.
 * ZITADEL could not export larger organisations within the time limit in any case.
 */
const MAX_MESSAGE_BYTES = 128_000_000;

const { exportData } = AdminService.method;

/**
 * @returns undefined if the response does not contain the organisation
 * @throws IdentityError DEADLINE_EXCEEDED if the export takes longer than `timeoutMs`
 * @throws IdentityError ZITADEL_CANNOT_EXPORT if ZITADEL fails to export the organisation
 * @throws IdentityError ZITADEL_HEADER_LOST if the response is for another organisation
 */
export async function exportOne(
  connection: ZitadelConnection,
  orgId: string,
  scope: ExportScope,
  { withPasswords, withOtp }: ExportedSecrets,
  timeoutMs = EXPORT_MS,
): Promise<JsonObject | undefined> {
  const exporting = { timeoutMs, onLeftOut: scope.onLeftOut };
  const organisation = await exportAlone(connection, orgId, { withPasswords, withOtp }, exporting);
  if (organisation === undefined) return undefined;
  const searches = await searchesOf(connection, orgId);
  const callerId = await scope.caller();
  scope.onUsersLeftOut([callerId]);
  await checkUsers(searches, organisation, scope);
  await addStatesAndGrants(searches, organisation, callerId, scope);
  await addMembers(searches, organisation, callerId, scope);
  return organisation;
}

async function exportAlone(
  connection: ZitadelConnection,
  id: string,
  secrets: ExportedSecrets,
  { timeoutMs, onLeftOut }: Pick<ExportScope, 'onLeftOut'> & { readonly timeoutMs: number },
): Promise<JsonObject | undefined> {
  const request = { orgIds: [id], ...secrets, responseOutput: true, timeout: `${timeoutMs}ms` };
  try {
    const limits = { timeoutMs, maxBytes: MAX_MESSAGE_BYTES };
    const { message } = await callMethod(connection, exportData, request, limits);
    const exported = message.orgs.find(({ orgId }) => orgId === id);
    if (exported === undefined) return undefined;
    const unknown = new Set(unknownFields(exported));
    if (unknown.size > 0) onLeftOut(warn('fields_unknown', { organisation: id, fields: [...unknown].join(', ') }));
    const organisation = toJson(DataOrgSchema, exported);
    return isJsonObject(organisation) ? organisation : undefined;
  } catch (error) {
    if (isTimeout(error)) throw zitadelExportTooSlow({ orgId: id, seconds: timeoutMs / 1_000 });
    throw isGatewayTimeout(error) ? zitadelExportTooSlow({ orgId: id }) : exportError(connection, id, error);
  }
}

/**
 * Yields the fields of a message that this command does not know, such as fields of newer releases. Each text consists
 * of the message's type and the field's number.
 */
function* unknownFields(value: unknown): Generator<string> {
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return;
  if (isMessage(value)) for (const { no } of value.$unknown ?? []) yield `${value.$typeName}.${no}`;
  for (const part of Object.values(value)) yield* unknownFields(part);
}

/**
 * If the error may concern only this organisation, it becomes ZITADEL_CANNOT_EXPORT, so that the caller can still
 * export the other organisations.
 */
function exportError(connection: ZitadelConnection, orgId: string, error: unknown): unknown {
  const converted = rpcError(connection, exportData, error);
  if (!(error instanceof ConnectError && zitadelCallFailed.is(converted))) return converted;
  const { code, rawMessage } = error;
  const isTooLarge = code === Code.ResourceExhausted && rawMessage.includes(errorTexts.responseTooLarge);
  return zitadelCannotExport({
    url: connection.origin,
    orgId,
    status: Code[code],
    message: isTooLarge ? `the response has more than ${MAX_MESSAGE_BYTES / 1_000_000} MB` : plainMessage(rawMessage),
  });
}

// ZITADEL exports a grant or a membership only if the same export contains all records to which it refers. So the
// export of a single organisation lacks the organisation's grants to other organisations. The export also lacks the
// memberships and grants of users who belong to other organisations.

const UNKNOWN = 'the export contains this organisation, but other calls do not find it';

async function searchesOf(connection: ZitadelConnection, orgId: string): Promise<OrganisationSearches> {
  if (!(await hasContext(connection, orgId)))
    throw zitadelContextMissing({ url: connection.origin, orgId, reason: UNKNOWN });
  const toError = (error: unknown) => exportError(connection, orgId, error);
  return {
    calls: rpcClient(connection, ManagementService, { orgId, toError }),
    find: async (ask) => {
      const results = await searchAll(ask);
      for (const { details } of results) requireContext(connection, orgId, details?.resourceOwner);
      return results;
    },
  };
}

const userSections = recordSections
  .filter(({ collection, references = [] }) =>
    [collection, ...references.map((reference) => reference.collection)].includes('users'),
  )
  .map(({ name }) => name);

/**
 * Counts the users with ZITADEL's search. If the export contains another number of users, reports the sections of users
 * as incomplete.
 */
async function checkUsers(
  { calls }: OrganisationSearches,
  organisation: JsonObject,
  { onIncomplete }: Pick<ExportScope, 'onIncomplete'>,
): Promise<void> {
  if ((await countUsers(calls)) !== usersIn(organisation).length) for (const name of userSections) onIncomplete(name);
}

/** Returns undefined if the token may not search for users. */
async function countUsers(calls: OrganisationSearches['calls']): Promise<number | undefined> {
  try {
    const { details } = await calls.listUsers({ query: { limit: 1 } });
    return Number(details?.totalResult ?? 0);
  } catch (error) {
    if (tokenForbidden.is(error) || zitadelCallFailed.is(error) || zitadelCannotExport.is(error)) return undefined;
    throw error;
  }
}

/**
 * Adds the states of records, which ZITADEL's exports lack, and the grants that the export of a single organisation
 * lacks.
 */
async function addStatesAndGrants(
  searches: OrganisationSearches,
  organisation: JsonObject,
  callerId: string,
  scope: ExportScope,
): Promise<void> {
  for (const { sections, search } of closables) {
    if (search === undefined) continue;
    const records = sections.flatMap((section) => recordsIn(organisation[section]));
    const searchResults = await search.find(searches, records);
    const [section] = sections;
    const keyOf = keyBy(section, organisation);
    if (search.findsOthers === true) {
      const others = searchResults.map(({ json }) => json).filter(({ userId }) => userId !== callerId);
      addMissing(organisation, section, await movingGrants(organisation, section, others, scope));
    } else {
      const exported = new Set(records.map(keyOf));
      if (!searchResults.every(({ json }) => exported.has(keyOf(json))))
        for (const name of sections) scope.onIncomplete(name);
    }
    const inactive = new Map(searchResults.map(({ json, isInactive }) => [keyOf(json), isInactive]));
    const [usual, inactiveState] = statesOf({ name: section }) ?? [];
    for (const record of sections.flatMap((name) => recordsIn(organisation[name]))) {
      const isInactive = inactive.get(keyOf(record));
      // Writes the state even if it is the usual state. Without a state in the file, an overwriting import would keep
      // the state of the record in the target.
      if (isInactive !== undefined) record.state = isInactive ? inactiveState : usual;
    }
  }
}

/** Removes each grant whose user or organisation the export leaves out. Warns about the removed grants. */
async function movingGrants(
  organisation: JsonObject,
  section: SectionName,
  grants: readonly JsonObject[],
  { stayingOrganisations, stayingUsers, onIncomplete, onUsersLeftOut, onLeftOut }: ExportScope,
): Promise<readonly JsonObject[]> {
  const ofUsers = section === 'userGrants';
  const receiverOf = (grant: JsonObject) => textAt(grant, ofUsers ? 'userId' : 'projectGrant.grantedOrgId', '');
  const receivers = new Set(grants.map(receiverOf));
  const staying = ofUsers ? await stayingOf(receivers, stayingUsers) : receivers.intersection(stayingOrganisations);
  if (staying.size === 0) return grants;
  if (ofUsers) onUsersLeftOut(staying);
  else onIncomplete(section);
  const content = ofUsers ? '' : 'projectGrant.';
  const left = grants.filter((grant) => staying.has(receiverOf(grant)));
  const texts = left.map((grant) => {
    const roles = textsAt(grant, `${content}roleKeys[]`, '').join(', ') || 'no role';
    return `${receiverOf(grant)} has ${roles} in project ${textAt(grant, `${content}projectId`, '')}`;
  });
  onLeftOut(warn('grants_left', { organisation: textAt(organisation, 'orgId', ''), grants: texts.join('; ') }));
  return grants.filter((grant) => !staying.has(receiverOf(grant)));
}

async function stayingOf(
  users: ReadonlySet<string>,
  stayingUsers: ExportScope['stayingUsers'],
): Promise<ReadonlySet<string>> {
  return users.size === 0 ? users : await stayingUsers([...users]);
}

/** Adds the memberships of users from other organisations, which the export of a single organisation lacks. */
async function addMembers(
  { calls, find }: OrganisationSearches,
  organisation: JsonObject,
  callerId: string,
  { stayingUsers, onUsersLeftOut, onLeftOut }: ExportScope,
): Promise<void> {
  const members = await find((query) => calls.listOrgMembers({ query }));
  const projectMembers: FoundMember[] = [];
  for (const project of recordsIn(organisation.projects)) {
    const projectId = textAt(project, 'projectId', '');
    const membersOfProject = await find((query) => calls.listProjectMembers({ projectId, query }));
    projectMembers.push(...membersOfProject.map((member) => ({ of: { projectId }, member })));
  }
  const grantMembers: FoundMember[] = [];
  for (const grant of recordsIn(organisation.projectGrants)) {
    const projectId = textAt(grant, 'projectGrant.projectId', '');
    const grantId = textAt(grant, 'grantId', '');
    const membersOfGrant = await find((query) => calls.listProjectGrantMembers({ projectId, grantId, query }));
    grantMembers.push(...membersOfGrant.map((member) => ({ of: { projectId, grantId }, member })));
  }
  const ownUserIds = new Set(usersIn(organisation).map(userIdOf));
  const orgMembers = members.map((member): FoundMember => ({ of: {}, member }));
  const allMembers = [...orgMembers, ...projectMembers, ...grantMembers];
  const others = new Set(allMembers.map(({ member: { userId } }) => userId)).difference(ownUserIds);
  others.delete(callerId);
  const staying = await stayingOf(others, stayingUsers);
  onUsersLeftOut(staying);
  const add = (section: SectionName, candidates: readonly FoundMember[]) => {
    const moving = candidates.filter(({ member: { userId } }) => userId !== callerId && !staying.has(userId));
    addMissing(organisation, section, moving.map(memberRecord));
  };
  add('orgMembers', orgMembers);
  add('projectMembers', projectMembers);
  add('projectGrantMembers', grantMembers);
  const leftOut = allMembers.filter(({ member: { userId } }) => staying.has(userId));
  if (leftOut.length > 0) onLeftOut(leftMemberships(textAt(organisation, 'orgId', ''), leftOut));
}

/** A membership. `of` contains the ids of the project or grant to which it belongs. */
interface FoundMember {
  readonly of: Readonly<Record<string, string>>;
  readonly member: Member;
}

function leftMemberships(organisation: string, leftOut: readonly FoundMember[]): RecordWarning {
  const texts = leftOut.map(({ of, member: { userId, preferredLoginName, roles } }) =>
    [`${named(userId, preferredLoginName)} is ${roles.join(', ')}`, ...Object.values(of)].join(' of '),
  );
  return warn('memberships_left', { organisation, memberships: texts.join('; ') });
}

function userIdOf(record: JsonObject): string {
  return textAt(record, 'userId', '');
}

function keyBy(name: SectionName, { orgId }: JsonObject): (record: JsonObject) => string {
  const section = recordSection(name);
  return (json) => documentPath(recordKey({ section, json, orgId: String(orgId) }));
}

function addMissing(organisation: JsonObject, section: SectionName, additions: readonly JsonObject[]): void {
  const records = recordsIn(organisation[section]);
  const keyOf = keyBy(section, organisation);
  const byKey = new Map([...additions, ...records].map((record) => [keyOf(record), record]));
  for (const record of records) byKey.delete(keyOf(record));
  if (byKey.size > 0) organisation[section] = [...records, ...byKey.values()];
}

export function recordsIn(section: unknown): JsonObject[] {
  return Array.isArray(section) ? section.filter(isJsonObject) : [];
}

function usersIn(organisation: JsonObject): JsonObject[] {
  return ['humanUsers', 'machineUsers'].flatMap((name) => recordsIn(organisation[name]));
}

function memberRecord({ of, member: { userId, roles } }: FoundMember): JsonObject {
  return { ...of, userId, roles };
}
