import { describe, expect, it } from 'vitest';
import { changeRole } from '../../../shared/accounts/memberships.ts';
import { issueToken } from '../../../shared/accounts/personalAccessTokens.ts';
import { DAY_MS } from '../../../shared/clock.ts';
import { organisation, person } from '../../support/fixtures/organisations.ts';
import { servedInstance, testInstance } from '../../support/instances/testInstance.ts';
import { openTestStore } from '../../support/stores/stores.ts';

const robot = (user: object = {}, more: object = {}) => ({
  userId: 'robot',
  user: { userName: 'robot', name: 'Robot', accessTokenType: 'ACCESS_TOKEN_TYPE_BEARER', ...user },
  ...more,
});
const home = (more: object = {}) => organisation('home', { machineUsers: [robot()], ...more });
const other = (more: object) => organisation('other', more);

/** An instance with a second IAM_OWNER, and the responses to exports and imports with its token. */
async function withSecondOwner() {
  const store = await openTestStore();
  const first = await testInstance(store);
  await first.import({ data_orgs: { orgs: [home()] } });
  const membership = { userId: 'robot', orgId: undefined };
  await changeRole(store, membership, 'IAM_OWNER', 'add', new Date());
  const { token } = await issueToken(store, 'robot', new Date(), DAY_MS);
  return { first, second: servedInstance(store, { orgId: 'home', userId: 'robot', token }) };
}

describe('an import', () => {
  it.each<[string, readonly object[]]>([
    ['the user as a person', [organisation('home', { humanUsers: [person('robot')] })]],
    ['the user in another organisation', [other({ machineUsers: [robot()] })]],
    [
      'the user in another organisation, and not in its own',
      [organisation('home'), other({ machineUsers: [robot()] })],
    ],
    [
      'the user with another name and another type of token',
      [home({ machineUsers: [robot({ userName: 'renamed', accessTokenType: 'ACCESS_TOKEN_TYPE_JWT' })] })],
    ],
    [
      "the user's name for another user",
      [
        home({
          machineUsers: [robot({ userName: 'renamed' })],
          humanUsers: [person('mallory', { userName: 'robot' })],
        }),
      ],
    ],
    ['the organisation inactive', [home({ orgState: 'ORG_STATE_INACTIVE' })]],
    ['the organisation removed', [home({ orgState: 'ORG_STATE_REMOVED' })]],
    ['the state apart from the organisation', [{ orgId: 'home', orgState: 'ORG_STATE_INACTIVE' }]],
    [
      'the organisation renamed and inactive, twice in the file',
      [
        { orgId: 'home', org: { name: 'new' } },
        { orgId: 'home', orgState: 'ORG_STATE_INACTIVE' },
      ],
    ],
    [
      'a key of the user',
      [home({ machineKeys: [{ keyId: 'k', userId: 'robot', type: 'KEY_TYPE_JSON', publicKey: 'eA==' }] })],
    ],
    [
      'a membership of the instance, and one without roles',
      [{ ...home({ orgMembers: [{ userId: 'robot', roles: [] }] }), iamMembers: [{ userId: 'robot', roles: [] }] }],
    ],
  ])('takes no access from another IAM_OWNER by %s', async (_name, orgs) => {
    const { first, second } = await withSecondOwner();
    await first.import({ on_conflict: 'overwrite', with_keys: true, data_orgs: { orgs } });
    expect((await second.attempt('export', { response_output: true })).status).toBe(200);
    expect((await second.import({ data_orgs: { orgs: [organisation('proof')] } })).errors).toBeUndefined();
  });
});
