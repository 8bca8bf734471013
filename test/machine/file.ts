import { generateKeyPairSync } from 'node:crypto';
import fc from 'fast-check';
import { z } from 'zod';
import type { Organisation } from '../support/fixtures/organisations.ts';

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
const mostly = (own: readonly string[], all: readonly string[]) =>
  fc.oneof({ arbitrary: one(...own), weight: 4 }, { arbitrary: one(...all), weight: 1 });

export const anyOrg = one(...orgIds);
export const anyUser = one(...userIds);
/** Names that several users request, including names of other scopes and in domains. */
export const userName = one(
  ...['n1', 'N1', 'ｎ1', 'n\u200b1', 'a1', 'n1@d1.example', 'n2@d2.example', 'n3@d1.example', 'n4@ｄ1.example'],
);
const roleKeys = one([], [], ['r1'], ['r1', 'r2']);
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

const person = {
  profile: maybe('x').map((nickName) => ({ firstName: 'F', lastName: 'L', nickName })),
  email: truth.map((isEmailVerified) => ({ email: 'e@example.com', isEmailVerified })),
  hashedPassword: maybe('$2a$10$1', '$2a$10$2').map((value) => value && { value }),
  otpCode: maybe('JBSWY3DP', 'JBSWY3DQ'),
};

/** A record of an organisation. Users and their referenced records are frequent. */
function anyRecord(orgId: OrgId): fc.Arbitrary<FileRecord> {
  const userId = usersOf(orgId);
  const projectId = mostly([`p${orgId}`], ['pa', 'pb']);
  const grantId = mostly([`g${orgId}`], ['ga', 'gb']);
  const project = record('projects', { projectId, project: fc.record({ name: one('P', 'Q') }) });
  const role = record('projectRoles', { projectId, roleKey: one('r1', 'r1', 'r2', 'R2'), displayName: one('x', 'y') });
  const projectGrant = {
    projectId,
    grantedOrgId: mostly(
      orgIds.filter((id) => id !== orgId),
      orgIds,
    ),
    roleKeys,
  };
  const publicKeys = { type: constant('KEY_TYPE_JSON'), publicKey: constant(publicKey) };
  return fc.oneof(
    { arbitrary: userOf(orgId, 'humanUsers', person, { otpEmail: truth }), weight: 5 },
    { arbitrary: userOf(orgId, 'machineUsers', { name: one('x', 'y') }, {}), weight: 3 },
    record('domainPolicy', { userLoginMustBeDomain: truth, validateOrgDomains: truth }),
    { arbitrary: project, weight: 2 },
    {
      arbitrary: record('domains', {
        domainName: one('d1.example', 'd2.example', 'ｄ2.example'),
        isVerified: truth,
        isPrimary: truth,
      }),
      weight: 2,
    },
    { arbitrary: role, weight: 2 },
    { arbitrary: record('projectGrants', { grantId, projectGrant: fc.record(projectGrant) }), weight: 2 },
    record('orgMembers', { userId, roles: mostly([...organisationRoles], ['PROJECT_OWNER']).map((held) => [held]) }),
    record('projectMembers', { projectId, userId, roles: one(['PROJECT_OWNER'], ['PROJECT_OWNER_VIEWER']) }),
    record('userMetadata', { id: userId, key: constant('key'), value: one('eA==', 'eQ==') }),
    record('machineKeys', { keyId: one('k1', 'k2'), userId, ...publicKeys }),
    record('userGrants', { userId, projectId: one('pa', 'pb'), projectGrantId: maybe('ga', 'gb'), roleKeys }),
    record('projectGrantMembers', { projectId, grantId, userId, roles: one(['PROJECT_GRANT_OWNER'], ['X']) }),
  );
}

const anyEntry: fc.Arbitrary<FileEntry> = fc.oneof(
  ...orgIds.map((orgId) =>
    fc.record({
      orgId: constant(orgId),
      name: one('A', 'B', 'Ｃ', undefined, ...Array.from({ length: 8 }, () => orgId)),
      orgState: maybe('ORG_STATE_ACTIVE', 'ORG_STATE_INACTIVE'),
      records: fc.array(anyRecord(orgId), { maxLength: 12 }),
    }),
  ),
);

/** The organisations of an export file, with few names so that much of it meets stored records. */
export const anyFile: fc.Arbitrary<readonly Organisation[]> = fc
  .array(anyEntry, { minLength: 1, maxLength: 3 })
  .map((entries) => entries.map(toOrganisation));

const sparse = z.looseObject({ orgId: z.string() });

/** Puts the records into their sections, in the form of exports: without defaults. */
function toOrganisation({ orgId, name, orgState, records }: FileEntry): Organisation {
  const sections: Record<string, unknown> = {};
  for (const { section, json } of records) {
    const withOrg = section === 'domains' || section === 'domainPolicy' ? { orgId, ...json } : json;
    const list = sections[section];
    if (section === 'domainPolicy') sections[section] = withOrg;
    else sections[section] = Array.isArray(list) ? [...list, withOrg] : [withOrg];
  }
  const organisation = name === undefined ? {} : { org: { name }, orgState };
  const isDefault = (value: unknown) => Array.isArray(value) && value.length === 0;
  const text = JSON.stringify({ orgId, ...organisation, ...sections }, (_, value: unknown) =>
    isDefault(value) ? undefined : value,
  );
  return sparse.parse(JSON.parse(text));
}

/** The same organisations in the shape of v1, as far as they differ here (zitadel 5.9). */
export function asV1(orgs: readonly Organisation[]): readonly Organisation[] {
  return orgs.map(({ domainPolicy, ...org }) =>
    domainPolicy === undefined ? org : { ...org, iamPolicy: domainPolicy },
  );
}
