import { describe, expect, it } from 'vitest';
import { exportFileText, exportOrganisations } from '../../../cli/zitadel/export/exportContent.ts';
import { type ImportRequestEvent, importOrganisations } from '../../../cli/zitadel/import/importOrganisations.ts';
import { planImport } from '../../../cli/zitadel/import/importPlan.ts';
import { isJsonObject, type JsonObject, putAt, valueAt } from '../../../shared/json/jsonObject.ts';
import { type Organisation, organisation, zitadelRequest } from '../../support/fixtures/organisations.ts';
import { type TestInstance, testInstance } from '../../support/instances/testInstance.ts';
import { describeStores, openTestStore, type StoreKind, sqlite } from '../../support/stores/stores.ts';
import { connectTo } from '../../support/zitadel/connect.ts';
import { elements } from '../../support/zitadel/contents.ts';
import { fileWith, people } from '../../support/zitadel/files.ts';
import { startZitadel } from '../../support/zitadel/standIn.ts';

const TIMEOUT_MS = 180_000;
const secrets = { withPasswords: true, withOtp: true, withKeys: true };
const { signal } = new AbortController();

/** Moves everything of an instance of this service to a ZITADEL, and from there to another instance. */
async function moveThere(first: TestInstance, second: TestInstance, given: Parameters<typeof startZitadel>[0] = {}) {
  const zitadel = await startZitadel({ lagMs: 0, ...given });
  const connection = connectTo(zitadel);
  const before = await first.export({ for_zitadel: true });
  const plan = await planImport(fileWith(before.bytes), secrets, signal);
  const events: ImportRequestEvent[] = [];
  await importOrganisations(connection, plan, { onRequest: (event) => void events.push(event) });
  expect(events.flatMap(({ errors }) => [...errors.real, ...errors.existing])).toEqual([]);
  const orgIds = before.orgs.map(({ orgId }) => orgId);
  let text = '';
  const selection = { orgIds: [...new Set(orgIds)], excludedOrgIds: [], withPasswords: true, withOtp: true };
  for await (const part of exportFileText(exportOrganisations(connection, selection))) text += part;
  const report = await second.import(`{"with_keys":true,"data_orgs":${text}}`);
  return { before: await first.export(), report, after: await second.export() };
}

async function instances(kind: StoreKind): Promise<[TestInstance, TestInstance]> {
  return [
    await testInstance(await openTestStore(kind), 'first'),
    await testInstance(await openTestStore(kind), 'second'),
  ];
}

/** The sections that a ZITADEL carries both ways without a change. */
const carried = [
  ...['humanUsers', 'machineUsers', 'projects', 'projectRoles', 'apiApps', 'actions', 'userMetadata'],
  ...['projectGrants', 'userGrants', 'orgMembers', 'projectMembers', 'projectGrantMembers', 'machineKeys', 'appKeys'],
  ...['loginTexts', 'initMessages', 'passwordResetMessages', 'oidcIdps', 'jwtIdps', 'userLinks', 'loginPolicy'],
];

/** The fields that no export of a ZITADEL has. */
const lost = ['user.passwordChangeRequired', 'user.requestPasswordlessRegistration', 'user.accessTokenType'];
const lostOfPolicies = ['allowDomainDiscovery', 'disableLoginWithEmail', 'disableLoginWithPhone'];

/** What a ZITADEL makes of a record, where that is documented. */
function asZitadelKeepsIt(section: string, given: JsonObject): JsonObject {
  const record = structuredClone(given);
  for (const path of section === 'loginPolicy' ? lostOfPolicies : lost) unset(record, path);
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

describe('a migration of 10,000 people to a ZITADEL and back', () => {
  it('keeps their password hashes and TOTP seeds', { timeout: TIMEOUT_MS }, async () => {
    const [first, second] = await instances(sqlite);
    const orgs = [
      organisation('1', { humanUsers: people(6_000) }),
      organisation('2', { humanUsers: people(4_000, 6_000) }),
    ];
    await first.import({ data_orgs: { orgs } });
    const { before, report, after } = await moveThere(first, second);
    expect(report.summary.created).toMatchObject({ org: 2, humanUsers: 10_000 });
    expect(report.summary.failed).toEqual({});
    expect(before.orgs.flatMap(({ humanUsers }) => elements(humanUsers))).toHaveLength(10_000);
    expect(sectionsOf(after.orgs)).toEqual(sectionsOf(before.orgs));
  });
});

describeStores('a migration to a ZITADEL and back', (kind) => {
  it('keeps the records of every section that ZITADEL carries', { timeout: TIMEOUT_MS }, async () => {
    const [first, second] = await instances(kind);
    await first.import({ with_keys: true, data_orgs: { orgs: zitadelRequest('import-request') } });
    const { before, report, after } = await moveThere(first, second);
    expect(report.summary.failed).toEqual({});
    expect(sectionsOf(after.orgs)).toEqual(sectionsOf(before.orgs, asZitadelKeepsIt));
  });
});
