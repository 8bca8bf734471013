import { AdminService } from '@zitadel/proto/zitadel/admin_pb.js';
import { OrgFieldName, OrgState, OrgStateSchema } from '@zitadel/proto/zitadel/org_pb.js';
import type { DomainPolicy } from '@zitadel/proto/zitadel/policy_pb.js';
import { UserService } from '@zitadel/proto/zitadel/user/v2/user_service_pb.js';
import { INSTANCE_CONTENT } from '../../../shared/errors/manualStepReasons.ts';
import { words } from '../../../shared/errors/nouns.ts';
import { zitadelCallFailed, zitadelCannotExport, zitadelContextMissing } from '../../../shared/errors/placeErrors.ts';
import type { RecordWarning } from '../../../shared/errors/warnings.ts';
import { callSignal } from '../../../shared/http/deadline.ts';
import { type JsonObject, putAt, textAt, valueAt } from '../../../shared/json/jsonObject.ts';
import { recordSections, sections } from '../../../shared/organisation/allSections.ts';
import { type SectionName, serviceUsers } from '../../../shared/organisation/sections/section.ts';
import { unexportedContent } from '../../../shared/organisation/zitadelFacts.ts';
import { allReleases, type ReleaseRange } from '../../../shared/organisation/zitadelReleases.ts';
import { undisposed } from '../../exports/fileContent.ts';
import { withManifest } from '../../exports/manifestEnd.ts';
import { accepts, type ExportFile, type PlaceExportOptions } from '../../exports/placeInterfaces.ts';
import { callName, rpcClient, searchAll } from '../rpc.ts';
import type { ZitadelAddress, ZitadelConnection } from '../zitadelConnection.ts';
import { readCaller, readDomainPolicy, readServerTime } from '../zitadelInstance.ts';
import { describeExport } from './exportManifest.ts';
import { type ExportScope, exportOne, recordsIn } from './exportOrganisation.ts';
import { addStates } from './omittedStates.ts';
import { addOtpEmail } from './otpEmailStates.ts';

/**
 * Exports ZITADEL's organisations one after the other, so that only one organisation is in memory at a time. Filters
 * the list of organisations itself, because ZITADEL crashes if the field `excluded_org_ids` of a request contains an
 * existing organisation.
 */
export function openZitadelExport(address: ZitadelAddress, options: PlaceExportOptions): ExportFile {
  let [done, total] = [0, 0];
  const notices: RecordWarning[] = [];
  async function* open(signal: AbortSignal): AsyncGenerator<Uint8Array> {
    using call = callSignal(signal, options.timeoutMs);
    const connection = { ...address, signal: call.signal };
    // A later import compares this time with the times of ZITADEL's events. So it must be the time of ZITADEL's clock.
    // ZITADEL rounds this time down, so every event after this call has a later time.
    const readTime = await readServerTime(connection);
    const missing: Missing = { sections: new Set(), users: new Set() };
    yield* withManifest(organisations(connection, missing), call.signal, ({ tally }) =>
      describeExport(connection, { options, readTime, missing }, tally),
    );
  }
  async function* organisations(connection: ZitadelConnection, missing: Missing): AsyncGenerator<Uint8Array> {
    const { orgIds, excludedOrgIds } = options;
    const { list, scope, states } = shareCalls(connection, options, { notices, missing });
    const includedIds = orgIds.length > 0 ? orgIds : (await list()).keys();
    const selected = new Set(includedIds).difference(new Set(excludedOrgIds));
    [done, total] = [0, selected.size];
    notices.length = 0;
    const exportSelected = async (orgId: string) => {
      const organisation = await exportOne(connection, orgId, scope, options, options.timeoutMs);
      if (organisation !== undefined) return organisation;
      return (await list()).has(orgId) ? exportListed(connection, orgId, scope, options) : undefined;
    };
    let domainPolicy: DomainPolicy | undefined;
    yield Buffer.from('{"orgs":[');
    let start = '';
    for (const orgId of selected) {
      const organisation = await exportSelected(orgId).catch((error: unknown) => {
        const isOfOrganisation = zitadelCannotExport.is(error) || zitadelContextMissing.is(error);
        if (!isOfOrganisation || options.onUnexported === undefined) throw error;
        options.onUnexported({ orgId, message: error.message });
        return undefined;
      });
      done++;
      if (organisation === undefined) continue;
      connection.onRead?.(Object.values(organisation).reduce<number>((sum, list) => sum + listLength(list), 1));
      domainPolicy ??= await readDomainPolicy(connection);
      addDomainPolicy(organisation, domainPolicy);
      const unknown = [
        await addStates(organisation, states),
        options.withOtp ? await addOtpEmail(connection, organisation) : undefined,
      ];
      notices.push(...unknown.filter((notice) => notice !== undefined));
      applyOptions(organisation, options);
      yield Buffer.from(`${start}\n${JSON.stringify(organisation)}`);
      start = ',';
    }
    yield Buffer.from(start === ',' ? '\n]}' : ']}');
  }
  return {
    isRepeatable: false,
    losses: exportLosses(allReleases),
    notices,
    open,
    once: { open },
    fraction: () => (total === 0 ? undefined : done / total),
    ...undisposed,
  };
}

/**
 * Content that an export lacks. `sections` contains sections with missing records. `users` contains users whose grants
 * or memberships are missing.
 */
interface Missing {
  readonly sections: Set<SectionName>;
  readonly users: Set<string>;
}

/**
 * Returns functions whose results, such as the list of organisations, are used for the exports of all organisations.
 */
function shareCalls(
  connection: ZitadelConnection,
  options: PlaceExportOptions,
  { notices, missing }: { readonly notices: RecordWarning[]; readonly missing: Missing },
) {
  let listed: ListedOrganisations | undefined;
  const list = async () => {
    listed ??= await listZitadelOrganisations(connection);
    return listed;
  };
  let callerId: string | undefined;
  const caller = async () => {
    callerId ??= (await readCaller(connection)).userId;
    return callerId;
  };
  const scope: ExportScope = {
    caller,
    stayingOrganisations: new Set(options.excludedOrgIds),
    stayingUsers: (userIds) => usersOf(connection, options.excludedOrgIds, userIds),
    onIncomplete: (section) => void missing.sections.add(section),
    onUsersLeftOut: (userIds) => {
      for (const userId of userIds) missing.users.add(userId);
    },
    onLeftOut: (notice) => void notices.push(notice),
  };
  const states = {
    connection,
    acceptsUnknown: accepts(options, 'unknown-states'),
    stateOf: async (orgId: string) => (await list()).get(orgId)?.state,
  };
  return { list, scope, states };
}

function listLength(value: unknown): number {
  return Array.isArray(value) ? value.length : 0;
}

/**
 * Exports an organisation from ZITADEL's list of organisations.
 * @returns undefined if the organisation was deleted after the list was read
 * @throws IdentityError if the response does not contain the organisation, although a new list still contains it
 */
async function exportListed(
  connection: ZitadelConnection,
  orgId: string,
  scope: ExportScope,
  options: PlaceExportOptions,
): Promise<JsonObject | undefined> {
  const organisation = await exportOne(connection, orgId, scope, options, options.timeoutMs);
  if (organisation !== undefined || !(await listZitadelOrganisations(connection)).has(orgId)) return organisation;
  const message = `the response lacks organisation ${orgId}, although ZITADEL lists it: repeat the command`;
  const call = callName(AdminService.method.exportData);
  throw zitadelCallFailed({ url: connection.origin, call, status: 'OK', message });
}

/**
 * Removes keys and client secrets unless the options select them, because ZITADEL always exports them. Copies the id of
 * each service user to the field in which ZITADEL's imports expect the id.
 */
function applyOptions(organisation: JsonObject, options: PlaceExportOptions): void {
  for (const { name, keys, credentials = [] } of sections) {
    if (keys === true && !options.withKeys) delete organisation[name];
    for (const record of recordsIn(organisation[name])) {
      for (const { path, flag } of credentials)
        if (!options[flag] && valueAt(record, path) !== undefined) putAt(record, path, undefined);
    }
  }
  for (const user of recordsIn(organisation[serviceUsers.name])) putAt(user, 'user.userId', textAt(user, 'userId', ''));
}

/**
 * Adds the instance's domain policy, because it decides which user names are valid, and ZITADEL's exports do not
 * contain it. Adds nothing if all values of the policy are the defaults of this service.
 */
function addDomainPolicy(organisation: JsonObject, policy: DomainPolicy): void {
  if (organisation.domainPolicy !== undefined) return;
  const { userLoginMustBeDomain, validateOrgDomains, smtpSenderAddressMatchesInstanceDomain } = policy;
  const fields = { userLoginMustBeDomain, validateOrgDomains, smtpSenderAddressMatchesInstanceDomain };
  if (Object.values(fields).includes(true)) organisation.domainPolicy = { orgId: organisation.orgId, ...fields };
}

async function usersOf(
  connection: ZitadelConnection,
  orgIds: readonly string[],
  userIds: readonly string[],
): Promise<ReadonlySet<string>> {
  if (orgIds.length === 0) return new Set();
  const service = rpcClient(connection, UserService);
  const value = { userIds: [...userIds] };
  const queries = [{ query: { case: 'inUserIdsQuery', value } } as const];
  const users = await searchAll((query) => service.listUsers({ query, queries }));
  const selectedUsers = users.filter(({ details }) => orgIds.includes(details?.resourceOwner ?? ''));
  return new Set(selectedUsers.map(({ userId }) => userId));
}

export type ListedOrganisations = ReadonlyMap<string, { readonly name: string; readonly state: string | undefined }>;

export async function listZitadelOrganisations(connection: ZitadelConnection): Promise<ListedOrganisations> {
  const admin = rpcClient(connection, AdminService);
  // Without a defined order, some organisations may be on none of the pages.
  const organisations = await searchAll((query) => admin.listOrgs({ query, sortingColumn: OrgFieldName.NAME }));
  return new Map(organisations.map(({ id, name, state }) => [id, { name, state: stateName(state) }]));
}

/** Returns the name that a state has in export files. */
function stateName(state: OrgState): string | undefined {
  return state === OrgState.UNSPECIFIED ? undefined : OrgStateSchema.value[state]?.name;
}

/** Returns texts for plans about the content that ZITADEL's exports leave out or change; see zitadel 9.5. */
export function exportLosses(releases: ReleaseRange): readonly string[] {
  const bySection = recordSections.flatMap(({ name, zitadel = {} }) => {
    const content = unexportedContent(zitadel, releases);
    return content.length === 0 ? [] : [`${words(name)}: ${content.join('; ')}`];
  });
  return [INSTANCE_CONTENT, ...bySection, 'sessions'];
}
