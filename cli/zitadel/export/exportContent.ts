// The export of a ZITADEL, organisation by organisation.

import { z } from 'zod';
import { INSTANCE_CONTENT } from '../../../shared/errors/manualSteps.ts';
import { zitadelCallFailed, zitadelCannotExport, zitadelContextMissing } from '../../../shared/errors/placeErrors.ts';
import { callSignal } from '../../../shared/http/deadline.ts';
import { type JsonObject, putAt, textAt, valueAt } from '../../../shared/json/jsonObject.ts';
import { serviceUsers } from '../../../shared/organisation/section.ts';
import { recordSections, sections } from '../../../shared/organisation/sections.ts';
import { unexportedContent } from '../../../shared/organisation/zitadelFacts.ts';
import { undisposed } from '../../exports/fileContent.ts';
import { accepts, type ExportFile, type PlaceExportOptions } from '../../exports/placeInterfaces.ts';
import { words } from '../../terminal/nouns.ts';
import { searchAll } from '../rpc.ts';
import { request, type ZitadelAddress, type ZitadelConnection } from '../zitadelConnection.ts';
import { type DomainPolicy, readCaller, readDomainPolicy } from '../zitadelInstance.ts';
import { EXPORT_PATH, type ExportScope, exportOne, recordsIn } from './exportOrganisation.ts';
import { addOtpEmail } from './otpEmail.ts';
import { addStates } from './states.ts';

/**
 * Returns an export file that combines one export per organisation. Memory holds one organisation. Organisations are selected
 * here, because matching `excluded_org_ids` crash a ZITADEL.
 */
export function openZitadelExport(address: ZitadelAddress, options: PlaceExportOptions): ExportFile {
  let [done, total] = [0, 0];
  const notices: string[] = [];
  async function* bytes(signal: AbortSignal): AsyncGenerator<Uint8Array> {
    using call = callSignal(signal, options.timeoutMs);
    const connection = { ...address, signal: call.signal };
    const { orgIds, excludedOrgIds } = options;
    let listed = orgIds.length > 0 ? undefined : await listZitadelOrganisations(connection);
    const selected = new Set(listed?.keys() ?? orgIds).difference(new Set(excludedOrgIds));
    [done, total] = [0, selected.size];
    notices.length = 0;
    const list = async () => {
      listed ??= await listZitadelOrganisations(connection);
      return listed;
    };
    let callerId: string | undefined;
    const caller = async () => {
      callerId ??= (await readCaller(connection)).userId;
      return callerId;
    };
    const states = {
      connection,
      acceptsUnknown: accepts(options, 'unknown-states'),
      stateOf: async (orgId: string) => (await list()).get(orgId)?.state,
    };
    const scope: ExportScope = {
      caller,
      stayingUsers: (userIds) => usersOf(connection, excludedOrgIds, userIds),
      onLeftOut: (notice) => notices.push(notice),
    };
    const exportSelected = async (orgId: string) => {
      const organisation = await exportOne(connection, orgId, scope, options, options.timeoutMs);
      if (organisation !== undefined) return organisation;
      return (await list()).has(orgId) ? exportListed(connection, orgId, scope, options) : undefined;
    };
    let domainPolicy: DomainPolicy | undefined;
    let start = '{"orgs":[';
    for (const orgId of selected) {
      const organisation = await exportSelected(orgId).catch((error: unknown) => {
        const isOfOrganisation = zitadelCannotExport.is(error) || zitadelContextMissing.is(error);
        if (!isOfOrganisation || options.onUnexported === undefined) throw error;
        options.onUnexported({ orgId, message: error.message });
        return undefined;
      });
      done++;
      if (organisation === undefined) continue;
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
    yield Buffer.from(start === ',' ? '\n]}\n' : '{"orgs":[]}\n');
  }
  return {
    isRepeatable: false,
    losses: exportLosses,
    notices,
    open: bytes,
    fraction: () => (total === 0 ? undefined : done / total),
    ...undisposed,
  };
}

/**
 * Exports an organisation that the ZITADEL has listed.
 * @returns undefined if it was deleted since
 * @throws IdentityError where the organisation is still listed, and the response lacks it, as the page of a gateway does
 */
async function exportListed(
  connection: ZitadelConnection,
  orgId: string,
  scope: ExportScope,
  options: PlaceExportOptions,
): Promise<JsonObject | undefined> {
  const organisation = await exportOne(connection, orgId, scope, options, options.timeoutMs);
  if (organisation !== undefined || !(await listZitadelOrganisations(connection)).has(orgId)) return organisation;
  const problem = `the response lacks organisation ${orgId}: check that no gateway answers in place of the ZITADEL`;
  throw zitadelCallFailed({ url: connection.origin, call: `POST ${EXPORT_PATH}`, status: 200, message: problem });
}

/**
 * Applies the options that ZITADEL does not have: it always exports keys and the secrets of identity providers, and
 * service users in a form that loses their ids.
 */
function applyOptions(organisation: JsonObject, options: PlaceExportOptions): void {
  for (const { name, keys, credentials = [] } of sections) {
    if (keys === true && !options.withKeys) delete organisation[name];
    for (const record of recordsIn(organisation[name])) {
      for (const { path, flag } of credentials)
        if (!options[flag] && valueAt(record, path) !== undefined) putAt(record, path, undefined);
    }
  }
  if (options.forZitadel)
    for (const user of recordsIn(organisation[serviceUsers.name]))
      putAt(user, 'user.userId', textAt(user, 'userId', ''));
}

/**
 * Adds the instance's domain policy to an organisation without its own, unless it is that of an instance of this service:
 * the validity of user names depends on it, and no export has it.
 */
function addDomainPolicy(organisation: JsonObject, policy: DomainPolicy): void {
  if (organisation.domainPolicy !== undefined || !Object.values(policy).includes(true)) return;
  organisation.domainPolicy = { orgId: organisation.orgId, ...policy };
}

const ownedUsers = z.looseObject({
  result: z
    .array(z.looseObject({ userId: z.string(), details: z.looseObject({ resourceOwner: z.string() }) }))
    .default([]),
});

/** Returns those of some users who belong to one of some organisations. */
async function usersOf(
  connection: ZitadelConnection,
  orgIds: readonly string[],
  userIds: readonly string[],
): Promise<ReadonlySet<string>> {
  if (orgIds.length === 0) return new Set();
  const users = await searchAll(async ({ offset, ...query }) => {
    const queries = [{ inUserIdsQuery: { userIds } }];
    const body = JSON.stringify({ query: { ...query, offset: String(offset) }, queries });
    return await request(connection, { method: 'POST', path: '/v2/users', body }, ownedUsers);
  });
  const found = users.filter(({ details: { resourceOwner } }) => orgIds.includes(resourceOwner));
  return new Set(found.map(({ userId }) => userId));
}

const organisationResult = z.looseObject({
  id: z.string(),
  name: z.string().default(''),
  state: z.string().optional(),
});
// Requires `details`, which every list of ZITADEL has, so that another server's response is rejected.
const organisationPage = z.looseObject({ details: z.looseObject({}), result: z.array(organisationResult).default([]) });

/** The organisations of a ZITADEL by their ids. */
export type ListedOrganisations = ReadonlyMap<string, Pick<z.infer<typeof organisationResult>, 'name' | 'state'>>;

/** Lists the organisations of a ZITADEL. */
export async function listZitadelOrganisations(connection: ZitadelConnection): Promise<ListedOrganisations> {
  const organisations = await searchAll(async ({ offset, ...query }) => {
    // Without an order, pages can lack results.
    const body = JSON.stringify({ query: { ...query, offset: String(offset) }, sortingColumn: 'ORG_FIELD_NAME_NAME' });
    return await request(connection, { method: 'POST', path: '/admin/v1/orgs/_search', body }, organisationPage);
  });
  return new Map(organisations.map(({ id, name, state }) => [id, { name, state }]));
}

/** The content that every export of ZITADEL omits or changes (zitadel 9.5), as texts for plans. */
export const exportLosses: readonly string[] = [
  INSTANCE_CONTENT,
  ...recordSections.flatMap(({ name, zitadel = {} }) => {
    const content = unexportedContent(zitadel);
    return content.length === 0 ? [] : [`${words(name)}: ${content.join('; ')}`];
  }),
  'sessions',
];
