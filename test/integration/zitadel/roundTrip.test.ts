import { expect, it } from 'vitest';
import { isJsonObject, type JsonObject, putAt, valueAt } from '../../../shared/json/jsonObject.ts';
import { findSection } from '../../../shared/organisation/allSections.ts';
import { type Organisation, zitadelRequest } from '../../support/fixtures/organisations.ts';
import { testInstance } from '../../support/instances/testInstance.ts';
import { openTestStore, sqlite } from '../../support/stores/stores.ts';
import { exportFromZitadel, importIntoStandIn } from '../../support/zitadel/connect.ts';
import { elements } from '../../support/zitadel/contents.ts';
import { loginScreens } from '../../support/zitadel/exporting.ts';
import { fillIn } from '../../support/zitadel/fillIn.ts';
import { exportForZitadel } from '../../support/zitadel/forZitadel.ts';
import { startZitadel } from '../../support/zitadel/standIn.ts';

/** The sections that ZITADEL imports and exports without a change. */
const carried = [
  ...['humanUsers', 'machineUsers', 'projects', 'projectRoles', 'apiApps', 'actions', 'userMetadata'],
  ...['projectGrants', 'userGrants', 'orgMembers', 'projectMembers', 'projectGrantMembers', 'machineKeys', 'appKeys'],
  ...['loginTexts', 'initMessages', 'passwordResetMessages', 'oidcIdps', 'jwtIdps', 'userLinks', 'loginPolicy'],
];

/** The fields that no export of ZITADEL has. */
const lost = ['user.passwordChangeRequired', 'user.requestPasswordlessRegistration', 'user.accessTokenType'];
const lostOfPolicies = ['allowDomainDiscovery', 'disableLoginWithEmail', 'disableLoginWithPhone'];

/** The documented changes that ZITADEL makes to a record. */
function asZitadelKeepsIt(section: string, given: JsonObject): JsonObject {
  const record = structuredClone(given);
  for (const path of section === 'loginPolicy' ? lostOfPolicies : lost) unset(record, path);
  fillIn(findSection(section)?.filled ?? [], record);
  if (section === 'loginTexts') return { ...loginScreens, ...record };
  const isPerson = section === 'humanUsers';
  if (!isPerson || valueAt(record, 'user.hashedPassword.value') !== undefined) return record;
  unset(record, 'user.email.isEmailVerified');
  return { ...record, state: 'USER_STATE_INITIAL' };
}

function unset(record: JsonObject, path: string): void {
  if (valueAt(record, path) !== undefined) putAt(record, path, undefined);
}

function sectionsOf(orgs: readonly Organisation[], convert = (_section: string, record: JsonObject) => record) {
  const texts = (section: string, content: unknown) =>
    elements(content).map((record) => canonical(convert(section, record)));
  return orgs.map((org) => [org.orgId, ...carried.map((name) => [name, texts(name, org[name]).sort()])]);
}

/** The text of a record without its unset fields. */
function canonical(record: JsonObject): string {
  return JSON.stringify(record, (_name, value: unknown) =>
    isJsonObject(value) ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))) : value,
  );
}

it('a migration to a ZITADEL and back keeps the records of every section that ZITADEL carries', async () => {
  const first = await testInstance(await openTestStore(sqlite), 'first');
  const second = await testInstance(await openTestStore(sqlite), 'second');
  await first.import({ with_keys: true, data_orgs: { orgs: zitadelRequest('import-request') } });
  const zitadel = await startZitadel({ lagMs: 0 });
  const given = await exportForZitadel(first);
  expect((await importIntoStandIn(zitadel, given.bytes)).errors).toBeUndefined();
  const orgIds = given.orgs.map(({ orgId }) => orgId);
  const { text } = await exportFromZitadel(zitadel, orgIds);
  const report = await second.import(`{"with_keys":true,"data_orgs":${text}}`);
  // The importer stays in ZITADEL: the export has none of its memberships.
  expect(report.errors).toBeUndefined();
  const [before, after] = [await first.export(), await second.export()];
  expect(sectionsOf(after.orgs)).toEqual(sectionsOf(before.orgs, asZitadelKeepsIt));
});
