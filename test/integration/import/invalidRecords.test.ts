import { describe, expect, it } from 'vitest';
import { organisation, person } from '../../support/fixtures/organisations.ts';
import { testInstance } from '../../support/instances/testInstance.ts';
import { readDatabase } from '../../support/stores/database.ts';
import { openTestStore, sqlite } from '../../support/stores/stores.ts';

const user = (userId: string, changes: object) => ({ userId, user: { ...person(userId).user, ...changes } });
const project = { projectId: 'P', project: { name: 'P' } };
const oidcApp = (clockSkew: string) => ({
  appId: 'app',
  app: { projectId: 'P', name: 'app', redirectUris: ['https://x.example'], clockSkew },
});

interface Row {
  readonly what: string;
  readonly fields: Fields;
  /** The section of the record. */
  readonly section: string;
  readonly type: string;
  /** Undefined if the id cannot be read. */
  readonly id?: string;
  readonly message: RegExp;
}

/** The invalid records, each beside valid ones. */
const rows: readonly Row[] = [
  ...(
    [
      [
        'a phone number without plus',
        { phone: { phone: '079' } },
        /does not have prefix "\+"; orgs\[0\]\.humanUsers\[0\]\.user\.phone\.phone: /,
      ],
      ['no address', { email: undefined }, /value is required; orgs\[0\]\.humanUsers\[0\]\.user\.email: missing$/],
      [
        'an invalid address',
        { email: { email: 'x' } },
        /invalid ImportHumanUserRequest_Email\.Email: value must be a valid email address/,
      ],
      [
        'an empty first name',
        { profile: { firstName: '', lastName: 'L' } },
        /user\.profile\.firstName: missing or empty/,
      ],
      ['no last name', { profile: { firstName: 'F' } }, /user\.profile\.lastName: missing or empty/],
      ['no profile', { profile: undefined }, /orgs\[0\]\.humanUsers\[0\]\.user\.profile: missing/],
      ['an empty user name', { userName: '' }, /orgs\[0\]\.humanUsers\[0\]\.user\.userName: missing or empty/],
      ['a number as user name', { userName: 7 }, /^orgs\[0\]\.humanUsers\[0\]\.user\.userName: expected text/],
      ['text as profile', { profile: 'x' }, /^orgs\[0\]\.humanUsers\[0\]\.user\.profile: expected an object/],
      ['text as flag', { email: { email: 'a@x.example', isEmailVerified: 'yes' } }, /expected true or false/],
      ['a field in both spellings', { user_name: 'x' }, /duplicate field "user_name"/],
    ] as const
  ).map(([what, changes, message]) => ({
    what: `a person with ${what}`,
    fields: { humanUsers: [user('A', changes)] },
    section: 'humanUsers',
    type: 'human_user',
    id: 'A',
    message,
  })),
  {
    what: 'a person without its inner object',
    fields: { humanUsers: [{ userId: 'A' }] },
    section: 'humanUsers',
    type: 'human_user',
    id: 'A',
    message: /^orgs\[0\]\.humanUsers\[0\]\.user: missing$/,
  },
  ...[null, {}, 'x', [], 5].map((value) => ({
    what: `${JSON.stringify(value)} as person`,
    fields: { humanUsers: [value] },
    section: 'humanUsers',
    type: 'human_user',
    message: /^orgs\[0\]\.humanUsers\[0\]: (?:unexpected null in a list|expected an object|the record is empty)$/,
  })),
  {
    what: 'metadata without value',
    fields: { userMetadata: [{ id: 'B', key: 'k', value: '' }] },
    section: 'userMetadata',
    type: 'user_metadata',
    id: 'B_k',
    message: /orgs\[0\]\.userMetadata\[0\]\.value: missing or empty/,
  },
  {
    what: 'metadata that is not base64',
    fields: { userMetadata: [{ id: 'B', key: 'k', value: '%' }] },
    section: 'userMetadata',
    type: 'user_metadata',
    id: 'B_k',
    message: /^orgs\[0\]\.userMetadata\[0\]\.value: expected base64/,
  },
  {
    what: 'an application with a long clock skew',
    fields: { projects: [project], oidcApps: [oidcApp('60s')] },
    section: 'oidcApps',
    type: 'oidc_app',
    id: 'app',
    message: /value must be inside range \[0s, 5s\]; orgs\[0\]\.oidcApps\[0\]\.app\.clockSkew: /,
  },
  {
    what: 'a label policy with a long colour',
    fields: { labelPolicy: { primaryColor: '#'.repeat(51) } },
    section: 'labelPolicy',
    type: 'label_policy',
    id: 'O',
    message: /value length must be at most 50 runes; orgs\[0\]\.labelPolicy\.primaryColor: /,
  },
  {
    what: 'a policy that is a list',
    fields: { lockoutPolicy: [] },
    section: 'lockoutPolicy',
    type: 'lockout_policy',
    id: 'O',
    message: /^orgs\[0\]\.lockoutPolicy: expected an object$/,
  },
  {
    what: 'a login policy that a list of v1 makes invalid',
    fields: { loginPolicy: { allowRegister: true }, secondFactors: [true] },
    section: 'loginPolicy',
    type: 'login_policy',
    id: 'O',
    message: /^orgs\[0\]\.loginPolicy\.secondFactors\[0\]: expected a name/,
  },
];

async function newInstance() {
  const store = await openTestStore(sqlite);
  return { store, instance: await testInstance(store) };
}

interface Fields extends Readonly<Record<string, unknown>> {
  readonly humanUsers?: readonly unknown[];
}

function fileOf({ humanUsers = [], ...fields }: Fields) {
  const org = organisation('O', { humanUsers: [...humanUsers, person('B')], ...fields });
  return { orgs: [org, organisation('Q', { humanUsers: [person('C')] })] };
}

describe('an invalid record', () => {
  it.each(rows)('is listed, and costs itself only: $what', async ({ fields, section, type, id, message }) => {
    const { store, instance } = await newInstance();
    const file = fileOf(fields);
    const dry = await instance.import({ data_orgs: file, dry_run: true });
    const { errors, summary } = await instance.import({ data_orgs: file });
    expect(errors).toHaveLength(1);
    expect(errors?.[0]).toMatchObject({ type, message: expect.stringMatching(message) });
    expect(errors?.[0]?.id).toBe(id);
    expect(summary.failed).toEqual({ [section]: 1 });
    expect(summary.created).toMatchObject({ org: 2, humanUsers: 2 });
    expect(dry).toMatchObject({ errors, summary: { failed: summary.failed, created: summary.created } });
    const stored = await readDatabase(store);
    const again = await instance.import({ data_orgsv1: JSON.stringify(file) });
    expect(again.summary.created).toEqual({});
    expect(again.errors).toEqual(errors);
    expect(await readDatabase(store)).toEqual(stored);
  });

  it('fails the records that refer to it, with the missing id', async () => {
    const { instance } = await newInstance();
    const org = organisation('O', {
      humanUsers: [user('A', { email: undefined, idps: [{ configId: 'c', externalUserId: 'e' }] }), person('B')],
      userMetadata: ['A', 'B'].map((id) => ({ id, key: 'k', value: 'dg==' })),
      orgMembers: ['A', 'B'].map((userId) => ({ userId, roles: ['ORG_OWNER'] })),
    });
    const { errors = [], summary } = await instance.import({ data_orgs: { orgs: [org] } });
    expect(errors.map(({ type, id }) => [type, id])).toEqual([
      ['human_user', 'A'],
      ['user_metadata', 'A_k'],
      ['org_member', 'O_A'],
    ]);
    expect(summary).toMatchObject({
      created: { humanUsers: 1, userMetadata: 1, orgMembers: 1 },
      failed: { humanUsers: 1, userMetadata: 1, orgMembers: 1 },
      notCarried: { userLinks: 1 },
    });
  });

  it('does not govern other records, if it is a policy', async () => {
    const { instance } = await newInstance();
    const clear = { userId: 'A', user: { ...person('A').user, password: 'Password1!' } };
    const passwordComplexityPolicy = { minLength: '50', hasSymbol: 'yes' };
    const org = organisation('O', { humanUsers: [clear], passwordComplexityPolicy });
    const { errors, summary } = await instance.import({ data_orgs: { orgs: [org] } });
    expect(errors?.map(({ type }) => type)).toEqual(['password_complexity_policy']);
    expect(summary.created).toMatchObject({ humanUsers: 1 });
  });

  it('fails with its organisation if the organisation is invalid, and other organisations are imported', async () => {
    const { instance } = await newInstance();
    const records = { humanUsers: [person('A')], projects: [project] };
    const wrong = { ...organisation('O', records), org: { name: 1 } };
    const file = { orgs: [wrong, organisation('Q', { humanUsers: [person('B')] })] };
    const message = 'orgs[0].org.name: expected text, such as "text"';
    const { errors, success, summary } = await instance.import({ data_orgs: file });
    expect(errors).toMatchObject([{ type: 'org', id: 'O', message }]);
    expect(success.orgs?.map(({ orgId }) => orgId)).toEqual(['Q']);
    expect(summary).toMatchObject({
      created: { org: 1, humanUsers: 1 },
      failed: { org: 1, humanUsers: 1, projects: 1 },
    });
    await instance.import({ data_orgs: { orgs: [organisation('O')] } });
    const existing = await instance.import({ data_orgs: file });
    expect(existing.errors).toMatchObject([{ type: 'org', id: 'O', message }]);
    expect(existing.summary.created).toEqual({ humanUsers: 1, projects: 1 });
  });

  it('fails a new organisation if it is the domain policy, without which names of users would settle their scope', async () => {
    const { instance } = await newInstance();
    const imported = (validateOrgDomains: unknown, orgId = 'O') => {
      const domainPolicy = { orgId, userLoginMustBeDomain: true, validateOrgDomains };
      const orgs = [organisation(orgId, { domainPolicy, humanUsers: [person('A')] })];
      return instance.import({ data_orgs: { orgs } });
    };
    const { errors, summary } = await imported('x');
    expect(errors).toMatchObject([
      { type: 'org', id: 'O', message: 'orgs[0].domainPolicy.validateOrgDomains: expected true or false' },
    ]);
    expect(summary).toMatchObject({ created: {}, failed: { org: 1, domainPolicy: 1, humanUsers: 1 } });
    expect((await imported(true)).summary).toMatchObject({
      created: { org: 1, domainPolicy: 1, humanUsers: 1 },
      failed: {},
    });
    // The stored policy governs the users of an existing organisation.
    expect((await imported('x')).summary).toMatchObject({
      unchanged: { org: 1, humanUsers: 1 },
      failed: { domainPolicy: 1 },
    });
  });

  it('is left out if its organisation is not selected', async () => {
    const { instance } = await newInstance();
    const { errors, summary } = await instance.import({ data_orgs: fileOf({ humanUsers: [null] }), org_ids: ['Q'] });
    expect(errors).toBeUndefined();
    expect(summary).toMatchObject({ failed: {}, notCarried: { org: 1, humanUsers: 2 } });
  });

  it('contradicts the manifest of the file from before it was edited', async () => {
    const { instance } = await newInstance();
    await instance.import({ data_orgs: fileOf({}) });
    const { orgs, manifest } = await instance.export();
    const edited = orgs.map((org) => ({ ...org, humanUsers: [{ userId: 'B', user: 5 }] }));
    const { status, body } = await instance.refusedImport({ data_orgs: { orgs: edited, manifest } });
    expect(status).toBe(400);
    expect(body.message).toMatch(/manifest/);
  });
});
