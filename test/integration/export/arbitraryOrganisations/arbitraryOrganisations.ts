import { generateKeyPairSync } from 'node:crypto';
import fc from 'fast-check';
import { putAt } from '../../../../shared/json/jsonObject.ts';
import { sections } from '../../../../shared/organisation/allSections.ts';
import { organisationFields } from '../../../../shared/organisation/recordSchema.ts';
import type { Section } from '../../../../shared/organisation/sections/section.ts';
import type { Organisation } from '../../../support/fixtures/organisations.ts';
import { arbitraryMessage } from './arbitraryMessage.ts';

type Json = Record<string, unknown>;

const userStates = ['USER_STATE_ACTIVE', 'USER_STATE_INACTIVE', 'USER_STATE_LOCKED', 'USER_STATE_INITIAL'];

const pem = generateKeyPairSync('ed25519').publicKey.export({ type: 'spki', format: 'pem' });
const publicKey = Buffer.from(pem).toString('base64');

/** The fields of a record that are not free: ids, unique names, and references to other records. */
type Fixture = (index: number, org: string, other: string) => Json;

const languages = ['de', 'en', 'fr'];

const fixtures: Readonly<Record<string, Fixture>> = {
  projects: (i, org) => ({ projectId: `${org}-p${i}`, 'project.name': `project ${i}` }),
  projectRoles: (i, org) => ({ projectId: `${org}-p0`, roleKey: `role ${i}` }),
  apiApps: (i, org) => ({
    appId: `${org}-api${i}`,
    'app.projectId': `${org}-p0`,
    'app.name': `api ${i}`,
    'app.authMethodType': 'API_AUTH_METHOD_TYPE_PRIVATE_KEY_JWT',
  }),
  oidcApps: (i, org) => ({
    appId: `${org}-oidc${i}`,
    'app.projectId': `${org}-p0`,
    'app.name': `oidc ${i}`,
    'app.redirectUris': ['https://app.example/callback', 'app://callback'],
    'app.postLogoutRedirectUris': i === 0 ? ['https://app.example/'] : undefined,
    'app.additionalOrigins': i === 1 ? ['https://app.example'] : undefined,
    'app.responseTypes': ['OIDC_RESPONSE_TYPE_CODE', 'OIDC_RESPONSE_TYPE_ID_TOKEN'],
    'app.backChannelLogoutUri': 'https://app.example/logout',
    'app.loginVersion': i === 0 ? { loginV2: { baseUri: 'https://login.example' } } : undefined,
  }),
  humanUsers: (i, org) => ({
    userId: `${org}-h${i}`,
    'user.userName': `${org} person ${i}`,
    'user.password': undefined,
    'user.profile.preferredLanguage': languages[i],
    'user.idps': i === 0 ? [{ configId: `${org}-oidc-idp0`, externalUserId: 'x', displayName: 'y' }] : undefined,
    'user.hashedPassword': i % 2 === 0 ? { value: `hash ${i}` } : undefined,
    state: userStates[i % userStates.length],
  }),
  machineUsers: (i, org) => ({
    userId: `${org}-m${i}`,
    'user.userName': `${org} machine ${i}`,
    'user.userId': undefined,
    state: userStates[i % 3],
  }),
  triggerActions: (i, org) => ({ flowType: '3', triggerType: `${i + 1}`, actionIds: [`${org}-a0`] }),
  actions: (i, org) => ({ actionId: `${org}-a${i}`, 'action.name': `action ${i}`, 'action.timeout': `${i + 1}s` }),
  projectGrants: (i, org, other) => ({
    grantId: `${org}-g${i}`,
    'projectGrant.projectId': `${org}-p${i}`,
    'projectGrant.grantedOrgId': other,
    'projectGrant.roleKeys': i === 0 ? ['role 0', 'role 2'] : undefined,
  }),
  userGrants: (i, org) => ({
    userId: `${org}-h${i}`,
    projectId: `${org}-p0`,
    projectGrantId: undefined,
    roleKeys: ['role 1'],
  }),
  orgMembers: (i, org) => ({ userId: `${org}-h${i}`, roles: ['ORG_OWNER', 'ORG_USER_MANAGER'] }),
  projectMembers: (i, org) => ({ projectId: `${org}-p0`, userId: `${org}-h${i}`, roles: ['PROJECT_OWNER'] }),
  projectGrantMembers: (i, org) => ({
    projectId: `${org}-p0`,
    grantId: `${org}-g0`,
    userId: `${org}-m${i}`,
    roles: ['PROJECT_GRANT_OWNER'],
  }),
  userMetadata: (i, org) => ({ id: `${org}-h0`, key: `key ${i}` }),
  oidcIdps: (i, org) => ({ idpId: `${org}-oidc-idp${i}`, 'idp.name': `oidc ${i}` }),
  jwtIdps: (i, org) => ({ idpId: `${org}-jwt-idp${i}`, 'idp.name': `jwt ${i}` }),
  userLinks: (i, org) => ({ userId: `${org}-h0`, idpId: `${org}-oidc-idp0`, providedUserId: `external ${i}` }),
  domains: (i, org) => ({
    orgId: org,
    domainName: `d${i}.${org}.example`,
    isPrimary: i === 0,
    ...(i === 0 ? { isVerified: true } : {}),
  }),
  appKeys: (i, org) => ({
    id: `${org}-ak${i}`,
    appId: `${org}-api0`,
    projectId: `${org}-p0`,
    expirationDate: `209${i}-01-01T00:00:00Z`,
  }),
  machineKeys: (i, org) => ({
    keyId: `${org}-mk${i}`,
    userId: `${org}-m0`,
    expirationDate: `209${i}-01-01T00:00:00Z`,
    publicKey,
  }),
  loginPolicy: (_, org) => ({
    defaultRedirectUri: 'https://example.com/',
    secondFactors: ['SECOND_FACTOR_TYPE_OTP_EMAIL', 'SECOND_FACTOR_TYPE_OTP'],
    multiFactors: ['MULTI_FACTOR_TYPE_U2F_WITH_VERIFICATION'],
    idps: [
      { idpId: `${org}-jwt-idp0`, ownerType: 'IDP_OWNER_TYPE_ORG' },
      { idpId: 'of the instance', ownerType: 'IDP_OWNER_TYPE_SYSTEM' },
    ],
  }),
  domainPolicy: (_, org) => ({ orgId: org }),
  passwordComplexityPolicy: () => ({ minLength: '72' }),
};

/** Two organisations that grant each other projects, with one to three records of every section. */
export const arbitraryOrganisations: fc.Arbitrary<Organisation[]> = fc
  .tuple(arbitraryOrganisation('north', 'south'), arbitraryOrganisation('south', 'north'))
  .map((orgs) => [...orgs]);

function arbitraryOrganisation(org: string, other: string): fc.Arbitrary<Organisation> {
  const contents = Object.fromEntries(sections.map((section) => [section.name, arbitrarySection(section, org, other)]));
  const state = fc.constantFrom('ORG_STATE_ACTIVE', 'ORG_STATE_INACTIVE');
  return fc
    .tuple(fc.record(contents), state)
    .map(([content, orgState]) => ({ orgId: org, org: { name: `organisation ${org}` }, ...content, orgState }));
}

function arbitrarySection({ name, inner }: Section, org: string, other: string): fc.Arbitrary<unknown> {
  const field = organisationFields.get(name);
  if (field?.schema === undefined) throw new Error(`${name} is no section`);
  const record = arbitraryMessage(field.schema, inner);
  const fixed = (json: Json, index: number) =>
    withFixtures(json, fixtures[name]?.(index, org, other) ?? textFixture(name, index));
  if (!field.list) return record.map((json) => (fixtures[name] === undefined ? json : fixed(json, 0)));
  return fc.array(record, { minLength: 3, maxLength: 3 }).map((records) => records.map(fixed));
}

/** Every text has content, because empty texts are not imported. */
function textFixture(name: string, index: number): Json {
  const content = name === 'loginTexts' ? 'loginText.title' : 'text';
  return { language: languages[index], [content]: `text ${index}` };
}

function withFixtures(record: Json, values: Json): Json {
  const changed = structuredClone(record);
  for (const [path, value] of Object.entries(values)) putAt(changed, path, value);
  return JSON.parse(JSON.stringify(changed));
}
