import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { removeOrganisations } from '../../cli/accounts/organisationRemoval.ts';
import { createServiceUser } from '../../cli/accounts/serviceUsers.ts';
import { changeRole } from '../../shared/accounts/memberships.ts';
import { issueToken } from '../../shared/accounts/personalAccessTokens.ts';
import { DAY_MS } from '../../shared/clock.ts';
import { instanceIssues } from '../../shared/errors/recordIssues.ts';
import { organisation, person } from '../support/fixtures/organisations.ts';
import { servedInstance, type TestInstance, testInstance } from '../support/instances/testInstance.ts';
import { openTestStore, sqlite } from '../support/stores/stores.ts';

/** An import that reports an error, and the imports that follow its remedy, of which the last one reports none. */
interface Row {
  readonly stored?: object;
  readonly file: object;
  readonly request?: object;
  readonly remedies: readonly (readonly Step[])[];
}

/** A file or other fields of the request, in place of those before. */
interface Step {
  readonly file?: object;
  readonly request?: object;
}

type Reason = keyof typeof instanceIssues;

/** Returns the organisations `a` and `b` with some sections. */
const orgs = (a: object, b: object = {}) => [organisation('a', a), organisation('b', b)];
const people = (...humanUsers: readonly object[]) => ({ humanUsers });
const validating = (domain: object) => ({
  domainPolicy: { validateOrgDomains: true },
  domains: [{ domainName: 'd.example', ...domain }],
});
const verified = (domainName: string) => ({ domains: [{ domainName, isVerified: true }] });
const project = { projects: [{ projectId: 'P', project: { name: 'P' } }] };
const robot = { userId: 'R', user: { userName: 'robot', name: 'Robot' } };
const app = (appId: string, name: string, more: object = {}) => ({ appId, app: { projectId: 'P', name, ...more } });
const withKeys = { authMethodType: 'API_AUTH_METHOD_TYPE_PRIVATE_KEY_JWT' };
const jwtIdps = [{ idpId: 'I', idp: { name: 'I', issuer: 'i', jwtEndpoint: 'j', keysEndpoint: 'k', headerName: 'h' } }];
const link = (userId: string, providedUserId: string) => ({ userId, idpId: 'I', providedUserId });
const PEM = String(generateKeyPairSync('ed25519').publicKey.export({ type: 'spki', format: 'pem' }));
const publicKey = Buffer.from(PEM).toString('base64');
const machineKey = (more: object) => ({
  machineUsers: [robot],
  machineKeys: [{ keyId: 'K', userId: 'R', type: 'KEY_TYPE_JSON', publicKey, ...more }],
});
const appKey = (more: object) => ({
  ...project,
  apiApps: [app('A', 'A', more)],
  appKeys: [{ id: 'K', projectId: 'P', appId: 'A', type: 'KEY_TYPE_JSON', publicKey }],
});
const roles = ['r1', 'r2'].map((roleKey) => ({ projectId: 'P', roleKey, displayName: roleKey }));
const grant = (grantedOrgId: string, roleKeys: readonly string[]) => ({
  ...project,
  projectRoles: roles,
  projectGrants: [{ grantId: 'G', projectGrant: { projectId: 'P', grantedOrgId, roleKeys } }],
});
const userGrant = (...roleKeys: readonly string[]) => ({
  ...people(person('U')),
  userGrants: [{ userId: 'U', projectId: 'P', projectGrantId: 'G', roleKeys }],
});
const action = { actionId: 'A', action: { name: 'A', script: 's', timeout: '1s' } };
const trigger = (more: object) => ({
  actions: [action],
  triggerActions: [{ flowType: '1', triggerType: '1', actionIds: ['A'], ...more }],
});
const password = (text: string, passwordComplexityPolicy?: object) => ({
  ...people(person('U', { password: text })),
  ...(passwordComplexityPolicy === undefined ? {} : { passwordComplexityPolicy }),
});
const userMetadata = [{ id: 'U', key: 'k', value: 'dg==' }];

const overwrite = { request: { on_conflict: 'overwrite' } };
const skip = { request: { on_conflict: 'skip' } };
/** Remedies of one import each. */
const each = (...files: readonly object[]) => files.map((file): Step[] => [{ file }]);

const rows: Partial<Record<Reason, Row>> = {
  record_exists: {
    stored: orgs(people(person('U'))),
    file: orgs(people(person('U', { userName: 'other' }))),
    remedies: [[overwrite], [skip]],
  },
  state_kept: {
    stored: orgs({ projects: [{ ...project.projects[0], state: 'PROJECT_STATE_INACTIVE' }] }),
    file: orgs(project),
    remedies: [[skip]],
  },
  factor_removed: {
    stored: orgs(people(person('U'))),
    file: orgs(people({ ...person('U'), otpEmail: true })),
    remedies: [[skip], [overwrite]],
  },
  field_fixed: {
    stored: orgs(grant('b', [])),
    file: [...orgs(grant('c', [])), organisation('c')],
    remedies: each(orgs(grant('b', []))),
  },
  id_taken: {
    stored: orgs({}, people(person('U'))),
    file: orgs(people(person('U', { userName: 'other' }))),
    remedies: each(orgs(people(person('V', { userName: 'other' })))),
  },
  id_of_other_kind: {
    stored: orgs({ machineUsers: [robot] }),
    file: orgs(people(person('R'))),
    remedies: each(orgs(people(person('V')))),
  },
  record_repeated: {
    file: orgs(people(person('U'), person('U', { nickName: 'other' }))),
    remedies: each(orgs(people(person('U')))),
  },
  id_repeated: {
    file: orgs(people(person('U'), person('U', { userName: 'other' }))),
    remedies: each(orgs(people(person('U'), person('V', { userName: 'other' })))),
  },
  login_name_taken: {
    file: orgs(people(person('U', { userName: 'same' })), people(person('V', { userName: 'same' }))),
    remedies: each(orgs(people(person('U', { userName: 'same' })), people(person('V', { userName: 'other' })))),
  },
  name_taken: {
    stored: [organisation('a')],
    file: [organisation('b', { org: { name: 'Organisation a' } })],
    remedies: each([organisation('b')]),
  },
  application_name_taken: {
    file: orgs({ ...project, apiApps: [app('A', 'same'), app('B', 'same')] }),
    remedies: each(orgs({ ...project, apiApps: [app('A', 'same'), app('B', 'other')] })),
  },
  domain_taken: {
    file: orgs(verified('d.example'), verified('d.example')),
    remedies: each(orgs(verified('d.example'))),
  },
  identity_taken: {
    file: orgs({ jwtIdps, ...people(person('U'), person('V')), userLinks: [link('U', 'x'), link('V', 'X')] }),
    remedies: each(orgs({ jwtIdps, ...people(person('U'), person('V')), userLinks: [link('U', 'x')] })),
  },
  domain_reserved: {
    file: orgs(people(person('U', { userName: 'u@d.example' })), verified('d.example')),
    remedies: each(orgs(people(person('U', { userName: 'renamed' })), verified('d.example'))),
  },
  domain_policy_exists: {
    stored: orgs({ domainPolicy: { smtpSenderAddressMatchesInstanceDomain: true } }),
    file: orgs({ domainPolicy: { validateOrgDomains: true } }),
    remedies: [[overwrite]],
  },
  reference_missing: {
    file: orgs({ userMetadata }),
    remedies: [[{ file: orgs({ ...people(person('U')), userMetadata }) }], [{ file: orgs(people(person('U'))) }, {}]],
  },
  reference_foreign: {
    file: orgs({ jwtIdps, userLinks: [link('U', 'x')] }, people(person('U'))),
    remedies: each(orgs({ jwtIdps, ...people(person('V')), userLinks: [link('V', 'x')] }, people(person('U')))),
  },
  value_missing: { file: [{ org: { name: 'new' } }], remedies: each([organisation('new')]) },
  organisation_unnamed: {
    stored: [organisation('a')],
    file: [{ orgId: 'new', ...people(person('U')) }],
    remedies: each([organisation('new', people(person('U')))], [{ orgId: 'a', ...people(person('U')) }]),
  },
  organisation_state_kept: {
    stored: [organisation('a')],
    file: [organisation('a', { orgState: 'ORG_STATE_INACTIVE' })],
    ...overwrite,
    remedies: each([{ orgId: 'a', org: { name: 'Organisation a' } }]),
  },
  roles_in_use: {
    stored: orgs(grant('b', ['r1', 'r2']), userGrant('r2')),
    file: orgs(grant('b', ['r1']), userGrant('r1')),
    ...overwrite,
    remedies: [[{}]],
  },
  member_roles_invalid: {
    file: orgs({ ...people(person('U')), orgMembers: [{ userId: 'U', roles: ['IAM_OWNER'] }] }),
    remedies: each(orgs({ ...people(person('U')), orgMembers: [{ userId: 'U', roles: ['ORG_OWNER'] }] })),
  },
  domain_unverified: {
    file: orgs(validating({ isPrimary: true })),
    remedies: [
      [{ file: orgs(validating({ isPrimary: true, isVerified: true })), ...overwrite }],
      [{ file: orgs(validating({})) }],
    ],
  },
  trigger_invalid: { file: orgs(trigger({ flowType: '99' })), remedies: each(orgs(trigger({}))) },
  trigger_unchanged: {
    file: orgs(trigger({ actionIds: [] })),
    remedies: each(orgs(trigger({})), orgs({ actions: [action] })),
  },
  language_unknown: {
    file: orgs({ initMessages: [{ language: 'xyz', title: 'Hi' }] }),
    remedies: each(orgs({ initMessages: [{ language: 'de', title: 'Hi' }] })),
  },
  email_invalid: {
    file: orgs(people(person('U', { email: { email: 'Ann <a@b.example>' } }))),
    remedies: each(orgs(people(person('U')))),
  },
  password_too_simple: {
    file: orgs(password('secret')),
    remedies: each(orgs(password('Secret-password-1')), orgs(password('secret', { minLength: '1' }))),
  },
  password_too_long: {
    file: orgs(password(`Secret-1-${'x'.repeat(72)}`)),
    remedies: each(orgs(password('Secret-password-1'))),
  },
  password_length_invalid: {
    file: orgs({ passwordComplexityPolicy: { minLength: '73' } }),
    remedies: each(orgs({ passwordComplexityPolicy: { minLength: '72' } })),
  },
  key_expired: {
    file: orgs(machineKey({ expirationDate: '2020-01-01T00:00:00Z' })),
    remedies: each(orgs({ machineUsers: [robot] })),
  },
  key_invalid: {
    file: orgs(machineKey({ publicKey: Buffer.from('no key').toString('base64') })),
    remedies: each(orgs(machineKey({}))),
  },
  key_unused: {
    file: orgs(appKey({ authMethodType: 'API_AUTH_METHOD_TYPE_BASIC' })),
    remedies: [
      [{ file: orgs(appKey(withKeys)), ...overwrite }],
      [{ file: orgs({ ...project, apiApps: [app('A', 'A', { authMethodType: 'API_AUTH_METHOD_TYPE_BASIC' })] }) }],
    ],
  },
  value_too_long: {
    file: orgs(people(person('U', { userName: 'x'.repeat(20_000) }))),
    remedies: each(orgs(people(person('U')))),
  },
  value_invalid: {
    file: orgs(people(person('U', { email: { email: 'none' } }))),
    remedies: each(orgs(people(person('U', { email: { email: 'none@a.example' } })))),
  },
  character_invalid: {
    file: orgs(people(person('U', { userName: 'a\u0000b' }))),
    remedies: each(orgs(people(person('U', { userName: 'ab' })))),
  },
};

/** The other reasons: of imports that mirror or that other calls overtake. */
const others: readonly Reason[] = [
  'changed_meanwhile',
  'deletion_of_caller',
  'deletion_of_changed',
  'deletion_of_owner',
  'deletion_of_scope',
  'deletion_referenced',
  'id_in_deletion',
  'owner_state_kept',
];

async function reasonsOf(instance: TestInstance, request: object): Promise<string[]> {
  const { reasons } = await instance.import(request);
  return reasons.map(({ reason = '' }) => reason);
}

describe('the remedy of an error of a record', () => {
  it.each(
    Object.entries(rows).flatMap(([reason, row]) =>
      row.remedies.map((steps, index) => ({ reason, row, steps, index })),
    ),
  )('ends it: $reason, remedy $index', async ({ reason, row: { stored, file, request = {} }, steps }) => {
    const instance = await testInstance(await openTestStore(sqlite));
    if (stored !== undefined) expect(await reasonsOf(instance, { data_orgs: { orgs: stored } })).toEqual([]);
    const options = { with_keys: true, timeout: '60s', ...request };
    expect(await reasonsOf(instance, { ...options, data_orgs: { orgs: file } })).toContain(reason);
    let last: readonly string[] = [reason];
    for (const step of steps)
      last = await reasonsOf(instance, { ...options, ...step.request, data_orgs: { orgs: step.file ?? file } });
    expect(last).toEqual([]);
  });

  it('ends it: login_names_settled', async () => {
    const store = await openTestStore(sqlite);
    const instance = await testInstance(store);
    const scoped = { domainPolicy: { userLoginMustBeDomain: true }, ...people(person('U')) };
    const send = (a: object) => reasonsOf(instance, { data_orgs: { orgs: [organisation('a', a)] } });
    expect(await send(people(person('U')))).toEqual([]);
    expect(await send(scoped)).toEqual(['login_names_settled']);
    await removeOrganisations(store, ['a'], new AbortController().signal);
    expect(await send(scoped)).toEqual([]);
  });

  it('ends it: own_state_kept', async () => {
    const store = await openTestStore(sqlite);
    const instance = await testInstance(store);
    const { orgId, userId } = instance;
    const locked = { userId, user: { userName: 'test-owner', name: 'test-owner' }, state: 'USER_STATE_LOCKED' };
    const request = { on_conflict: 'overwrite', data_orgs: { orgs: [{ orgId, machineUsers: [locked] }] } };
    expect(await reasonsOf(instance, request)).toEqual(['own_state_kept']);
    const other = await createServiceUser(store, 'other', orgId, new Date());
    await changeRole(store, { userId: other, orgId: undefined }, 'IAM_OWNER', 'add', new Date());
    const { token } = await issueToken(store, other, new Date(), DAY_MS);
    expect(await reasonsOf(servedInstance(store, { orgId, userId: other, token }), request)).toEqual([]);
  });

  it('is followed for every reason, except those of mirrors and concurrent calls', () => {
    const followed = [...Object.keys(rows), 'login_names_settled', 'own_state_kept'];
    expect([...followed, ...others].sort()).toEqual(Object.keys(instanceIssues).sort());
  });
});
