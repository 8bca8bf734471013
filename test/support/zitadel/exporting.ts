import { isDeepStrictEqual } from 'node:util';
import { type JsonObject, putAt, textAt, valueAt } from '../../../shared/json/jsonObject.ts';
import { zitadelExport } from '../fixtures/organisations.ts';
import { hasStates, type Release } from './behaviour.ts';
import { type Contents, elements } from './contents.ts';

/** The fields of an export request that ZITADEL reads. */
export interface ExportFlags {
  readonly orgIds: readonly string[];
  readonly excludedOrgIds: readonly string[];
  readonly withPasswords: boolean;
  readonly withOtp: boolean;
  readonly release: Release;
}

/** The failure of an export because of an organisation that ZITADEL cannot export. */
export class UnexportableError extends Error {
  readonly record: 'application' | 'user';

  constructor(record: UnexportableError['record']) {
    super(`a record is not read: ${record}`);
    this.record = record;
  }
}

/** The end of the process because of a matching exclusion. */
class DeadlyExclusionError extends Error {}

const whole = [
  ...['domainPolicy', 'labelPolicy', 'lockoutPolicy', 'loginPolicy', 'passwordComplexityPolicy', 'privacyPolicy'],
];
const lists = [
  ...['projects', 'projectRoles', 'apiApps', 'oidcApps', 'humanUsers', 'machineUsers', 'triggerActions', 'actions'],
  ...['userMetadata', 'loginTexts', 'initMessages', 'passwordResetMessages', 'verifyEmailMessages'],
  ...['domainClaimedMessages', 'oidcIdps', 'jwtIdps', 'userLinks', 'domains', 'appKeys', 'machineKeys'],
];

/** The fields that ZITADEL does not export (zitadel 4.3). */
const lostFields: readonly (readonly [section: string, ...paths: string[]])[] = [
  ['labelPolicy', 'themeMode'],
  ['loginPolicy', 'allowDomainDiscovery', 'disableLoginWithEmail', 'disableLoginWithPhone'],
  ['humanUsers', 'user.passwordChangeRequired', 'user.requestPasswordlessRegistration'],
  ['machineUsers', 'user.accessTokenType'],
  ['oidcApps', 'app.backChannelLogoutUri', 'app.loginVersion'],
  ['loginTexts', 'linkingUserPromptText'],
];

/** The screens of login texts, all of which are in every export. */
export const loginScreens = Object.fromEntries(
  zitadelExport('export-full')
    .flatMap(({ loginTexts }) => elements(loginTexts))
    .flatMap(({ language: _, ...texts }) => Object.keys(texts).map((screen): [string, object] => [screen, {}])),
);

/** Exports organisations as ZITADEL does (zitadel 4). Omits references to records outside of the export. */
export function exportFrom(
  contents: Contents,
  { orgIds, excludedOrgIds, release, ...secrets }: ExportFlags,
): JsonObject[] {
  const visible = [...contents.organisations.values()].filter((one) => contents.isVisible(one));
  const asked = visible.filter(({ orgId }) => orgIds.length === 0 || orgIds.includes(orgId));
  if (asked.some(({ orgId }) => excludedOrgIds.includes(orgId))) throw new DeadlyExclusionError('an exclusion matches');
  const applications = asked.flatMap(({ orgId }) => contents.visible(orgId, 'oidcApps'));
  if (applications.some((one) => isDeepStrictEqual(valueAt(one, 'app.postLogoutRedirectUris'), ['null'])))
    throw new UnexportableError('application');
  const idsOf = (orgId: string, section: string) => contents.visible(orgId, section).map(({ userId }) => userId);
  const hasUserOfTwoKinds = ({ orgId }: { readonly orgId: string }) =>
    new Set(idsOf(orgId, 'humanUsers')).intersection(new Set(idsOf(orgId, 'machineUsers'))).size > 0;
  if (release === '2026-07' && asked.some(hasUserOfTwoKinds)) throw new UnexportableError('user');
  const exported = new Set(asked.map(({ orgId }) => orgId));
  const isUserIn = (json: JsonObject) => exported.has(contents.users.get(textAt(json, 'userId', '')) ?? '');
  const projects = new Set(asked.flatMap(({ orgId }) => contents.visible(orgId, 'projects').map(projectId)));
  const isProjectIn = (json: JsonObject) => projects.has(projectId(json));
  return asked.map(({ orgId, name, state }) => {
    const records = (section: string) =>
      contents.visible(orgId, section).map((record) => exportedForm(section, record, release));
    const organisation: JsonObject = { orgId, ...(hasStates(release) ? { orgState: state } : {}), org: { name } };
    for (const section of whole) organisation[section] = records(section)[0];
    for (const section of lists) organisation[section] = records(section);
    organisation.humanUsers = records('humanUsers').map((person) => withoutSecrets(person, secrets));
    organisation.triggerActions = records('triggerActions').filter(
      ({ flowType }) => flowType === '1' || flowType === '3',
    );
    // ZITADEL exports the texts of claimed domains under this name.
    organisation.passwordlessRegistrationMessages = records('domainClaimedMessages');
    organisation.projectGrants = records('projectGrants').filter((grant) =>
      exported.has(textAt(grant, 'projectGrant.grantedOrgId', '')),
    );
    organisation.userGrants = records('userGrants').filter((grant) => isProjectIn(grant) && isUserIn(grant));
    organisation.orgMembers = records('orgMembers').filter(isUserIn);
    // Every organisation gets the members of all projects of the export.
    organisation.projectMembers = asked
      .flatMap((owner) => contents.visible(owner.orgId, 'projectMembers'))
      .filter((member) => isProjectIn(member) && isUserIn(member));
    organisation.projectGrantMembers = records('projectGrantMembers').filter(
      (member) => isProjectIn(member) && isUserIn(member),
    );
    return organisation;
  });
}

function exportedForm(section: string, record: JsonObject, release: Release): JsonObject {
  const copy = structuredClone(record);
  if (!hasStates(release)) delete copy.state;
  else if (section === 'humanUsers' || section === 'machineUsers') copy.state ??= 'USER_STATE_ACTIVE';
  const [, ...lost] = lostFields.find(([name]) => name === section) ?? [];
  for (const path of lost) if (valueAt(copy, path) !== undefined) putAt(copy, path, undefined);
  return section === 'loginTexts' ? { ...loginScreens, ...copy } : copy;
}

function projectId(json: JsonObject): string {
  return textAt(json, 'projectId', '');
}

function withoutSecrets(
  person: JsonObject,
  { withPasswords, withOtp }: Pick<ExportFlags, 'withPasswords' | 'withOtp'>,
) {
  const copy = structuredClone(person);
  const secrets = [
    'user.password',
    ...(withPasswords ? [] : ['user.hashedPassword']),
    ...(withOtp ? [] : ['user.otpCode']),
  ];
  for (const path of secrets) putAt(copy, path, undefined);
  return copy;
}
