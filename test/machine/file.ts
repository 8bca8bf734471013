import { generateKeyPairSync } from 'node:crypto';
import fc from 'fast-check';
import { z } from 'zod';
import type { Organisation } from '../support/fixtures/organisations.ts';
import { isSingle } from './kinds.ts';

/** A record of a file: its section, and its JSON. */
interface FileRecord {
  readonly section: string;
  readonly json: Readonly<Record<string, unknown>>;
}

/** An organisation of a file, before its records are put into their sections. */
interface FileEntry {
  readonly orgId: string;
  readonly name: string | undefined;
  readonly orgState: string | undefined;
  readonly records: readonly FileRecord[];
}

const sparse = z.looseObject({ orgId: z.string() });
const spki = generateKeyPairSync('ed25519').publicKey.export({ type: 'spki', format: 'pem' });
const publicKey = Buffer.from(spki).toString('base64');

export const orgIds = ['a', 'b', 'c'] as const;
type OrgId = (typeof orgIds)[number];
export const userIds = ['a1', 'a2', 'b1', 'b2', 'c1'] as const;
export const organisationRoles = ['ORG_OWNER', 'ORG_USER_MANAGER'] as const;
const one = <Value>(...values: readonly Value[]) => fc.constantFrom(...values);
const maybe = <Value>(...values: readonly Value[]) => fc.constantFrom(undefined, ...values);
const constant = <Value>(value: Value) => fc.constant(value);
/** One of the organisation's own ids, occasionally an id of another organisation. */
const mostly = <Value>(own: readonly Value[], all: readonly Value[]) =>
  fc.oneof({ arbitrary: one(...own), weight: 4 }, { arbitrary: one(...all), weight: 1 });

export const anyOrg = one(...orgIds);
export const anyUser = one(...userIds);
/** Names that several users request, including names of other scopes and in domains. */
export const userName = one(
  ...['n1', 'N1', 'ｎ1', 'n\u200b1', 'a1', 'n1@d1.example', 'n2@d2.example', 'n3@d1.example', 'n4@ｄ1.example'],
);
const roleKeys = one([], ['r1'], ['r1'], ['r1', 'r2'], ['r1', 'r2']);
/** Each organisation usually grants its project to the next one. */
const after = (orgId: OrgId): OrgId => (orgId === 'a' ? 'b' : orgId === 'b' ? 'c' : 'a');
const before = (orgId: OrgId): OrgId => after(after(orgId));
const state = one(
  ...['USER_STATE_ACTIVE', 'USER_STATE_ACTIVE', 'USER_STATE_LOCKED', 'USER_STATE_INACTIVE', 'USER_STATE_INITIAL'],
  undefined,
);
const truth = maybe(true);
const record = (section: string, fields: Record<string, fc.Arbitrary<unknown>>): fc.Arbitrary<FileRecord> =>
  fc.record(fields).map((json) => ({ section, json }));

/** A user, whose name is usually its own id. */
function userOf(orgId: OrgId, section: string, user: object, more: Record<string, fc.Arbitrary<unknown>>) {
  const name = fc.oneof({ arbitrary: constant(undefined), weight: 2 }, { arbitrary: userName, weight: 1 });
  const fields = { userId: usersOf(orgId), name, user: fc.record({ userName: constant(''), ...user }), state, ...more };
  return record(section, fields).map(({ json: { name: chosen, ...json } }) => ({
    section,
    json: { ...json, user: { ...Object(json.user), userName: chosen ?? json.userId } },
  }));
}

const usersOf = (orgId: OrgId) =>
  mostly(
    userIds.filter((id) => id.startsWith(orgId)),
    userIds,
  );

/** A text that differs between two versions of a record. */
const text = one('x', 'y');
const expirationDate = maybe(undefined, undefined, '2001-01-01T00:00:00Z', '2099-01-01T00:00:00Z');
const activity = (prefix: string) => maybe(undefined, `${prefix}_ACTIVE`, `${prefix}_INACTIVE`);
/** A link inside a person, as older files have it. */
const linkOf = (orgId: OrgId) =>
  fc.record({
    configId: mostly([`i${orgId}`], ['GitHub', 'ia']),
    externalUserId: one('e1', 'E1', 'e2'),
    displayName: text,
  });

const person = (orgId: OrgId) => ({
  profile: fc.record({
    firstName: constant('F'),
    lastName: constant('L'),
    nickName: maybe('x'),
    displayName: maybe('F L'),
    preferredLanguage: maybe('und', 'de'),
  }),
  email: truth.map((isEmailVerified) => ({ email: 'e@example.com', isEmailVerified })),
  hashedPassword: maybe('$2a$10$1', '$2a$10$2').map((value) => value && { value }),
  otpCode: maybe('JBSWY3DP', 'JBSWY3DQ'),
  idps: fc.oneof(
    { arbitrary: constant([]), weight: 4 },
    { arbitrary: fc.array(linkOf(orgId), { maxLength: 2 }), weight: 1 },
  ),
});

/** Members, mostly with roles that are valid in their section. */
const rolesOf = (...valid: readonly string[]) =>
  fc.oneof(
    { arbitrary: fc.subarray([...valid], { minLength: 1 }), weight: 5 },
    { arbitrary: one(['X'], ['X', ...valid.slice(0, 1)]), weight: 1 },
  );

type RecordArbitraries = Readonly<Record<string, fc.Arbitrary<FileRecord>>>;

const textSections = [
  ...['initMessages', 'passwordResetMessages', 'verifyEmailMessages', 'verifyPhoneMessages', 'domainClaimedMessages'],
  ...['passwordlessRegistrationMessages', 'verifySmsOtpMessages', 'verifyEmailOtpMessages', 'inviteUserMessages'],
];

/** A record of each section of an organisation. */
function recordsOf(orgId: OrgId): RecordArbitraries {
  const userId = usersOf(orgId);
  const projectId = mostly([`p${orgId}`], ['pa', 'pb']);
  const grantId = mostly([`g${orgId}`], ['ga', 'gb']);
  const appId = mostly([`x${orgId}`, `y${orgId}`], ['xa', 'xb']);
  const actionId = mostly([`t${orgId}`, `u${orgId}`], ['ta', 'ub']);
  const idpId = mostly([`i${orgId}`, `j${orgId}`], ['ia', 'jb']);
  const language = one('en', 'de');
  const projectGrant = { projectId, grantedOrgId: mostly([after(orgId)], orgIds), roleKeys };
  const app = (prefix: string) => ({
    projectId,
    name: one('A', 'B'),
    authMethodType: maybe(`${prefix}_AUTH_METHOD_TYPE_PRIVATE_KEY_JWT`),
  });
  const oidcApp = {
    ...app('OIDC'),
    devMode: truth,
    responseTypes: one([], [], ['OIDC_RESPONSE_TYPE_CODE'], ['OIDC_RESPONSE_TYPE_ID_TOKEN']),
    clockSkew: maybe('0s', '1s'),
  };
  const idp = { name: one('I', 'J'), issuer: constant('https://i.example') };
  const oidcIdp = { ...idp, clientId: text, clientSecret: one('s1', 's2') };
  const jwtIdp = { ...idp, jwtEndpoint: text, keysEndpoint: constant('k'), headerName: constant('h') };
  const key = { type: constant('KEY_TYPE_JSON'), publicKey: constant(publicKey), expirationDate };
  const actionIds = fc.array(actionId, { minLength: 0, maxLength: 2 });
  const texts = textSections.map((name) => record(name, { language, text: maybe('x', 'y') }));
  return {
    humanUsers: userOf(orgId, 'humanUsers', person(orgId), { otpEmail: maybe(true, false) }),
    machineUsers: userOf(orgId, 'machineUsers', { name: text }, {}),
    domainPolicy: record('domainPolicy', { userLoginMustBeDomain: truth, validateOrgDomains: truth }),
    labelPolicy: record('labelPolicy', { primaryColor: one('#111111', '#222222') }),
    lockoutPolicy: record('lockoutPolicy', { maxPasswordAttempts: one(5, 6) }),
    loginPolicy: record('loginPolicy', {
      allowUsernamePassword: truth,
      passwordCheckLifetime: maybe('0s', '1s'),
      idps: fc.array(fc.record({ idpId: mostly([`i${orgId}`], ['ia', 'LDAP']), ownerType: one(SYSTEM, ORG, ORG) }), {
        maxLength: 2,
      }),
    }),
    passwordComplexityPolicy: record('passwordComplexityPolicy', { minLength: one('10', '12') }),
    privacyPolicy: record('privacyPolicy', { tosLink: one('https://x.example', 'https://y.example') }),
    projects: record('projects', {
      projectId,
      project: fc.record({ name: one('P', 'Q') }),
      state: activity('PROJECT_STATE'),
    }),
    domains: record('domains', {
      domainName: one('d1.example', 'd2.example', 'ｄ2.example'),
      isVerified: truth,
      isPrimary: truth,
    }),
    projectRoles: record('projectRoles', { projectId, roleKey: one('r1', 'r1', 'r2', 'R2'), displayName: text }),
    apiApps: record('apiApps', { appId, app: fc.record(app('API')), state: activity('APP_STATE') }),
    oidcApps: record('oidcApps', { appId, app: fc.record(oidcApp), state: activity('APP_STATE') }),
    actions: record('actions', {
      actionId,
      action: fc.record({ name: one('T', 'U'), script: text, timeout: constant('10s') }),
      state: activity('ACTION_STATE'),
    }),
    triggerActions: record('triggerActions', { flowType: one('1', '2'), triggerType: one('1', '4'), actionIds }).filter(
      ({ json }) => json.flowType === '2' || json.triggerType === '1',
    ),
    projectGrants: record('projectGrants', {
      grantId,
      projectGrant: fc.record(projectGrant),
      state: activity('PROJECT_GRANT_STATE'),
    }),
    orgMembers: record('orgMembers', { userId, roles: rolesOf(...organisationRoles) }),
    projectMembers: record('projectMembers', {
      projectId,
      userId,
      roles: rolesOf('PROJECT_OWNER', 'PROJECT_OWNER_VIEWER'),
    }),
    projectGrantMembers: record('projectGrantMembers', {
      projectId,
      grantId,
      userId,
      roles: rolesOf('PROJECT_GRANT_OWNER', 'PROJECT_GRANT_OWNER_VIEWER'),
    }),
    userMetadata: record('userMetadata', { id: userId, key: constant('key'), value: one('eA==', 'eQ==') }),
    userGrants: record('userGrants', {
      userId,
      projectId: mostly([`p${before(orgId)}`, `p${orgId}`], ['pa', 'pb']),
      projectGrantId: mostly([undefined, `g${before(orgId)}`], ['ga', 'gb']),
      roleKeys,
      state: activity('USER_GRANT_STATE'),
    }),
    loginTexts: record('loginTexts', { language, loginText: maybe('x', 'y').map((title) => title && { title }) }),
    messages: fc.oneof(...texts),
    oidcIdps: record('oidcIdps', { idpId, idp: fc.record(oidcIdp) }),
    jwtIdps: record('jwtIdps', { idpId, idp: fc.record(jwtIdp) }),
    userLinks: record('userLinks', {
      userId,
      idpId: mostly([`i${orgId}`], ['GitHub', 'ia']),
      providedUserId: one('e1', 'E1', 'e2'),
      providedUserName: text,
      idpName: maybe('x'),
    }),
    appKeys: record('appKeys', { id: one('k1', 'k2'), projectId, appId, clientId: constant('c'), ...key }),
    machineKeys: record('machineKeys', { keyId: one('k1', 'k2'), userId, ...key }),
  };
}

const SYSTEM = 'IDP_OWNER_TYPE_SYSTEM';
const ORG = 'IDP_OWNER_TYPE_ORG';

/** Sections whose records refer to each other; more frequent sections are listed more than once. */
const themes = [
  'humanUsers humanUsers machineUsers domainPolicy domains domains projects userMetadata orgMembers projectGrants userGrants',
  'projects projectRoles projectRoles projectGrants projectGrants userGrants userGrants projectMembers projectGrantMembers humanUsers humanUsers',
  'projects apiApps oidcApps oidcApps appKeys machineUsers machineKeys machineKeys',
  'humanUsers humanUsers oidcIdps oidcIdps jwtIdps userLinks userLinks loginPolicy',
  'actions actions triggerActions triggerActions',
  'labelPolicy lockoutPolicy loginPolicy passwordComplexityPolicy privacyPolicy domainPolicy loginTexts messages messages messages',
];

/** Records to which others refer: random ids alone would rarely meet. */
function referencedRecords(orgId: OrgId): FileRecord[] {
  const profile = { firstName: 'F', lastName: 'L' };
  const email = { email: 'e@example.com', isEmailVerified: true };
  const projectId = `p${orgId}`;
  return [
    { section: 'projects', json: { projectId, project: { name: 'P' } } },
    ...['r1', 'r2'].map((roleKey) => ({ section: 'projectRoles', json: { projectId, roleKey, displayName: 'x' } })),
    { section: 'humanUsers', json: { userId: `${orgId}1`, user: { userName: `${orgId}1`, profile, email } } },
    { section: 'actions', json: { actionId: `t${orgId}`, action: { name: 'T', script: 'x', timeout: '10s' } } },
  ];
}

/** The records of an organisation: of one theme, or of all. */
function anyRecords(orgId: OrgId): fc.Arbitrary<FileRecord[]> {
  const records = recordsOf(orgId);
  const ofTheme = themes.map((theme) => theme.split(' ').flatMap((name) => records[name] ?? []));
  const [people = [], grants = [], ...others] = ofTheme;
  const mixtures = [people, people, grants, grants, grants, Object.values(records), ...others];
  const random = fc.oneof(...mixtures.map((some) => fc.array(fc.oneof(...some), { maxLength: 12 })));
  return fc.tuple(fc.subarray(referencedRecords(orgId)), random).map((parts) => parts.flat());
}

const anyEntry: fc.Arbitrary<FileEntry> = fc.oneof(
  ...orgIds.map((orgId) =>
    fc.record({
      orgId: constant(orgId),
      name: one('A', 'B', 'Ｃ', undefined, ...Array.from({ length: 8 }, () => orgId)),
      orgState: maybe('ORG_STATE_ACTIVE', 'ORG_STATE_INACTIVE'),
      records: anyRecords(orgId),
    }),
  ),
);

/** Roles of a grant that most imports change. */
const changingRoles = one(['r1'], ['r2'], ['r1', 'r2']);

/** The values that differ between two files of granting organisations. */
interface Granting {
  /** The roles of the project grant. */
  readonly granted: readonly string[];
  /** The roles that the first person has through it. */
  readonly used: readonly string[];
  readonly nickName?: string | undefined;
  readonly state: string | undefined;
  readonly password: string;
  /** The second person's id, which may be that of another organisation's person. */
  readonly secondId: string;
}

function personOf(
  userId: string,
  password: string | undefined,
  { nickName, state }: Partial<Pick<Granting, 'nickName' | 'state'>> = {},
): FileRecord {
  const profile = { firstName: 'F', lastName: 'L', nickName };
  const hashedPassword = password && { value: password };
  const user = { userName: userId, profile, email: { email: 'e@example.com' }, hashedPassword };
  return { section: 'humanUsers', json: { userId, user, state } };
}

/** Returns two organisations whose records always refer to each other: random records seldom meet in these. */
function grantingEntries({ granted, used, nickName, state, password, secondId }: Granting): readonly FileEntry[] {
  const projectGrant = { projectId: 'pa', grantedOrgId: 'b', roleKeys: granted };
  const grant = { userId: 'b1', projectId: 'pa', projectGrantId: 'ga', roleKeys: used };
  return [
    {
      orgId: 'a',
      name: 'a',
      orgState: undefined,
      records: [
        { section: 'projects', json: { projectId: 'pa', project: { name: 'P' } } },
        ...['r1', 'r2'].map((roleKey) => ({ section: 'projectRoles', json: { projectId: 'pa', roleKey } })),
        { section: 'projectGrants', json: { grantId: 'ga', projectGrant } },
      ],
    },
    {
      orgId: 'b',
      name: 'b',
      orgState: undefined,
      records: [
        personOf('b1', undefined, { nickName, state }),
        personOf(secondId, password),
        { section: 'userGrants', json: grant },
      ],
    },
  ];
}

const anyGranting: fc.Arbitrary<Granting> = fc.record({
  granted: changingRoles,
  used: changingRoles,
  password: one('$2a$10$1', '$2a$10$2', '$2a$10$3'),
  state: maybe('USER_STATE_INACTIVE'),
  secondId: one('b2', 'b2', 'a1'),
});

const PASSWORD = '$2a$10$1';
const second = { granted: ['r1'], used: ['r1'], nickName: 'x', state: undefined, password: PASSWORD, secondId: 'c1' };
const bothRoles = ['r1', 'r2'];
/**
 * A file that fills an empty instance, and a second file that withdraws a role in use, omits a person's state, and has
 * another organisation's person.
 */
export const firstFiles: readonly (readonly Organisation[])[] = [
  grantingEntries({
    ...{ granted: bothRoles, used: bothRoles, state: 'USER_STATE_INACTIVE', password: PASSWORD, secondId: 'b2' },
  }),
  [...grantingEntries(second), { orgId: 'c', name: 'c', orgState: undefined, records: [personOf('b2', '$2a$10$2')] }],
].map((entries) => entries.map(toOrganisation));

/** The organisations of an export file, with few names, so that many records exist already. */
export const anyFile: fc.Arbitrary<readonly Organisation[]> = fc
  .oneof(fc.array(anyEntry, { minLength: 1, maxLength: 3 }), anyGranting.map(grantingEntries))
  .map((entries) => entries.map(toOrganisation));

/** Puts the records into their sections, in the form of exports: without defaults. */
function toOrganisation({ orgId, name, orgState, records }: FileEntry): Organisation {
  const sections: Record<string, unknown> = {};
  for (const { section, json } of records) {
    const withOrg = section === 'domains' || section === 'domainPolicy' ? { orgId, ...json } : json;
    const list = sections[section];
    if (isSingle(section)) sections[section] = withOrg;
    else sections[section] = Array.isArray(list) ? [...list, withOrg] : [withOrg];
  }
  const organisation = name === undefined ? {} : { org: { name }, orgState };
  const isDefault = (value: unknown) => Array.isArray(value) && value.length === 0;
  const text = JSON.stringify({ orgId, ...organisation, ...sections }, (_, value: unknown) =>
    isDefault(value) ? undefined : value,
  );
  return sparse.parse(JSON.parse(text));
}

/** The same organisations in the shape of v1, as far as they differ here (zitadel 2.1). */
export function asV1(orgs: readonly Organisation[]): readonly Organisation[] {
  return orgs.map(({ domainPolicy, ...org }) =>
    domainPolicy === undefined ? org : { ...org, iamPolicy: domainPolicy },
  );
}

/** The next of the values that a text or a secret of the generated records has. */
const otherValues = {
  texts: { x: 'y', y: 'x', '#111111': '#222222', '#222222': '#111111', P: 'Q', Q: 'P', F: 'G', G: 'F' },
  secrets: {
    ...{ $2a$10$1: '$2a$10$2', $2a$10$2: '$2a$10$3', $2a$10$3: '$2a$10$1' },
    ...{ JBSWY3DP: 'JBSWY3DQ', JBSWY3DQ: 'JBSWY3DP', s1: 's2', s2: 's1' },
  },
} as const satisfies Readonly<Record<string, Readonly<Record<string, string>>>>;
export type OtherValues = keyof typeof otherValues;

/** Returns organisations whose records have other texts, or other secrets. */
export function withOther(values: OtherValues, orgs: readonly Organisation[]): readonly Organisation[] {
  const others = new Map<unknown, string>(Object.entries(otherValues[values]));
  const text = JSON.stringify(orgs, (_, value: unknown) => others.get(value) ?? value);
  return z.array(sparse).parse(JSON.parse(text));
}
