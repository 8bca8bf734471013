import { describe, expect, it } from 'vitest';
import { exportFileLimits, MAX_MANIFEST_BYTES } from '../../../shared/exportFile/manifest.ts';
import { MAX_DOCUMENT_BYTES } from '../../../shared/store/store.ts';
import { type Organisation, organisation, person } from '../../support/fixtures/organisations.ts';
import { type Exported, testInstance } from '../../support/instances/testInstance.ts';
import { describeStores, openTestStore, type StoreKind, sqlite } from '../../support/stores/stores.ts';
import { exportForZitadel } from '../../support/zitadel/forZitadel.ts';
import { expectClosed } from './closure/expectClosed.ts';

/** Each test sends some megabytes to up to five instances. */

/** Creates an organisation that has a record with a text of the given number of characters. */
type Sized = (orgId: string, characters: number) => Organisation;

const longest = (count: number) => Array.from({ length: count }, () => 'x'.repeat(64_000));

function withApplication(orgId: string, characters: number): Organisation {
  const projectId = `project of ${orgId}`;
  const app = { projectId, name: 'app', redirectUris: [...longest(15), 'x'.repeat(characters)] };
  const project = { projectId, project: { name: 'project' } };
  return organisation(orgId, { projects: [project], oidcApps: [{ appId: `app of ${orgId}`, app }] });
}

function withLoginPolicy(orgId: string, characters: number): Organisation {
  const idps = Array.from({ length: 4_900 }, (_, index) => ({
    idpId: String(index).padStart(150, 'x'),
    ownerType: 'IDP_OWNER_TYPE_SYSTEM',
  }));
  return organisation(orgId, { loginPolicy: { idps, defaultRedirectUri: `app:${'x'.repeat(characters)}` } });
}

function withPrivacyPolicy(orgId: string, characters: number): Organisation {
  const [tosLink, privacyLink] = ['\u0001'.repeat(64_000), '\u0001'.repeat(64_000)];
  const [helpLink, docsLink, customLink] = longest(3);
  const links = { tosLink, privacyLink, helpLink, docsLink, customLink, customLinkText: 'x'.repeat(characters) };
  return organisation(orgId, { privacyPolicy: links });
}

function withProvider(orgId: string, characters: number): Organisation {
  const secret = { clientId: 'client', clientSecret: '"'.repeat(200) };
  const idp = { name: 'idp', issuer: 'i', ...secret, scopes: [...longest(15), 'x'.repeat(characters)] };
  return organisation(orgId, { oidcIdps: [{ idpId: 'i', idp }] });
}

/** Returns the size of an organisation's first record of a section in an export. */
function recordBytes({ orgs }: Exported, orgId: string, section: string): number {
  const [record] = [orgs.find((org) => org.orgId === orgId)?.[section]].flat();
  return Buffer.byteLength(JSON.stringify(record));
}

/** Returns the number of characters with which a record has the maximum size in an export. */
async function mostCharacters(kind: StoreKind, section: string, create: Sized): Promise<number> {
  const instance = await testInstance(await openTestStore(kind));
  await instance.import({ data_orgs: { orgs: [create('o', 1)] }, with_keys: true });
  return 1 + MAX_DOCUMENT_BYTES - recordBytes(await instance.export(), 'o', section);
}

async function expectClosedAtLimit(kind: StoreKind, section: string, create: Sized): Promise<void> {
  const { report, exported } = await expectClosed(kind, [create('o', await mostCharacters(kind, section, create))]);
  expect(report.errors).toBeUndefined();
  expect(recordBytes(exported, 'o', section)).toBe(MAX_DOCUMENT_BYTES);
}

describeStores('an export of a record of the maximum size', (kind) => {
  it('can be imported again', () => expectClosedAtLimit(kind, 'oidcApps', withApplication));
});

describe('an export of a record of the maximum size', () => {
  it.each([
    ['loginPolicy', withLoginPolicy],
    ['privacyPolicy', withPrivacyPolicy],
    ['oidcIdps', withProvider],
  ] as const)('can be imported again, if it is one of %s', (section, create) =>
    expectClosedAtLimit(sqlite, section, create),
  );
});

describe('an import of a record that would be larger in an export', () => {
  it.each([
    ['oidcApps', 'oidc_app', 'app of o', withApplication],
    ['loginPolicy', 'login_policy', 'o', withLoginPolicy],
  ] as const)('reports the record, if it is one of %s', async (section, type, id, create) => {
    const characters = 1 + (await mostCharacters(sqlite, section, create));
    const { report } = await expectClosed(sqlite, [create('o', characters)]);
    expect(report.errors).toEqual([
      { type, id, message: `ID=IMPORT-tooLong Message=the record exceeds ${MAX_DOCUMENT_BYTES} bytes` },
    ]);
  });
});

/** Ids of the maximum length, of characters that JSON writes in six. */
const longId = (index: number) => String(index).padEnd(2_600, '\u0001');
/** Enough records for a manifest above its limit, if it listed each. */
const many = <Value>(create: (index: number) => Value) => Array.from({ length: 20 }, (_, index) => create(index));

/** An organisation whose records need the maximum of manual steps. */
function laborious(): Organisation {
  const projectId = 'project';
  const inactive = (prefix: string) => ({ state: `${prefix}_STATE_INACTIVE` });
  const idps = Array.from({ length: 700 }, (_, index) => ({
    idpId: String(index).padEnd(200, '\u0001'),
    ownerType: 'IDP_OWNER_TYPE_ORG',
  }));
  return {
    orgId: '\u0001'.repeat(200),
    org: { name: 'Laborious' },
    loginPolicy: { idps },
    projects: [
      { projectId, project: { name: projectId } },
      ...many((i) => ({ projectId: longId(i), project: { name: `project ${i}` }, ...inactive('PROJECT') })),
    ],
    apiApps: many((i) => ({ appId: longId(i), app: { projectId, name: `api ${i}` }, ...inactive('APP') })),
    actions: many((i) => ({ actionId: longId(i), action: { name: `a ${i}`, script: 's' }, ...inactive('ACTION') })),
    humanUsers: many((i) => {
      const { user } = person(`person ${i}`, { email: { email: 'a@b.example' } });
      return { userId: longId(i), user, state: 'USER_STATE_SUSPEND', otpEmail: true };
    }),
    oidcIdps: many((i) => ({ idpId: longId(i), idp: { name: `idp ${i}`, clientId: 'c', issuer: 'i' } })),
    userLinks: many((i) => ({ userId: longId(i), idpId: longId(i).replace('\u0001', 'x'), providedUserId: `u ${i}` })),
    domains: many((i) => ({ domainName: longId(i), validationType: 'DOMAIN_VALIDATION_TYPE_DNS' })),
  };
}

describe('the manifest of an export', () => {
  it('stays within the limit of an import, however many steps remain', async () => {
    expect(exportFileLimits.valueBytes).toBeGreaterThanOrEqual(MAX_MANIFEST_BYTES);
    const source = await testInstance(await openTestStore(sqlite));
    await source.import({ data_orgs: { orgs: [laborious()] } });
    const exported = await exportForZitadel(source);
    expect(Buffer.byteLength(JSON.stringify(exported.manifest))).toBeLessThan(MAX_MANIFEST_BYTES);
    expect(exported.manifest.leftToDoOmitted).toBeGreaterThan(100);
    const target = await testInstance(await openTestStore(sqlite));
    const { summary } = await target.import(`{"data_orgs":${exported.bytes}}`);
    expect(summary.proved).toBe(true);
  });
});
