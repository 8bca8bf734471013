import { describe, expect, it } from 'vitest';
import { organisation, person, unproved } from '../../support/fixtures/organisations.ts';
import { testInstance } from '../../support/instances/testInstance.ts';
import { openTestStore } from '../../support/stores/stores.ts';

const request = (...orgs: object[]) => ({ data_orgs: { orgs } });
const overwriting = (...orgs: object[]) => ({ ...request(...orgs), on_conflict: 'overwrite' });
const member = (roles: string[], more: object = {}) => ({ userId: 'bot', roles, ...more });
const bot = { userId: 'bot', user: { userName: 'bot', name: 'Bot' } };
const project = { projectId: 'P', project: { name: 'P' } };
const grant = { grantId: 'G', projectGrant: { projectId: 'P', grantedOrgId: 'own' } };

const victim = organisation('victim', { projects: [project], projectGrants: [grant] });
const own = organisation('own', { machineUsers: [bot] });
const intruder = {
  orgId: 'victim',
  orgMembers: [member(['ORG_OWNER', 'ORG_USER_MANAGER'])],
  projectMembers: [member(['PROJECT_OWNER'], { projectId: 'P' })],
  projectGrantMembers: [member(['PROJECT_GRANT_OWNER'], { projectId: 'P', grantId: 'G' })],
  domains: [
    { domainName: 'victim.example', isVerified: true },
    { domainName: 'unverified.example', isVerified: false },
  ],
};
const intrusion = [
  {
    type: 'domain',
    id: 'victim_victim.example',
    reason: 'domain_added',
    message: 'adds the verified domain victim.example to organisation victim, which existed before',
  },
  {
    type: 'privilege',
    id: 'victim_bot',
    reason: 'privilege_added',
    message: 'gives the user bot ORG_OWNER, ORG_USER_MANAGER in organisation victim, which existed before',
  },
  {
    type: 'privilege',
    id: 'victim_P_bot',
    reason: 'privilege_added',
    message: 'gives the user bot PROJECT_OWNER in project P, which existed before',
  },
  {
    type: 'privilege',
    id: 'victim_P_G_bot',
    reason: 'privilege_added',
    message: 'gives the user bot PROJECT_GRANT_OWNER in project P, which existed before',
  },
];

describe('the privileges that an import adds to existing records', () => {
  it('are listed in the warnings, in a dry run too, and not when the import is sent again', async () => {
    const instance = await testInstance(await openTestStore());
    await instance.import(request(victim, organisation('own')));
    const attack = request(own, intruder);
    expect((await instance.import({ ...attack, dry_run: true })).summary.warnings).toEqual([unproved, ...intrusion]);
    const { errors, summary } = await instance.import(attack);
    expect({ errors, warnings: summary.warnings }).toEqual({ errors: undefined, warnings: [unproved, ...intrusion] });
    for (const again of [attack, { ...attack, on_conflict: 'overwrite' }, { ...attack, dry_run: true }])
      expect((await instance.import(again)).summary.warnings).toEqual([unproved]);
  });

  it('are not listed if the import itself creates the organisations and projects', async () => {
    const instance = await testInstance(await openTestStore());
    expect((await instance.import(request(own, victim, intruder))).summary.warnings).toEqual([unproved]);
  });

  it('are only the additions of an overwrite: further roles, and domains that become verified', async () => {
    const instance = await testInstance(await openTestStore());
    const domains = [{ domainName: 'a.example' }, { domainName: 'b.example', isVerified: true }];
    const before = organisation('own', { machineUsers: [bot], orgMembers: [member(['ORG_OWNER'])], domains });
    await instance.import(request(before));
    const changed = (roles: string[]) => ({
      orgId: 'own',
      orgMembers: [member(roles)],
      domains: domains.map(({ domainName }) => ({ domainName, isVerified: true, isPrimary: domainName[0] === 'b' })),
    });
    const { summary } = await instance.import(overwriting(changed(['ORG_OWNER', 'ORG_USER_MANAGER'])));
    expect(summary.warnings).toEqual([
      unproved,
      {
        type: 'domain',
        id: 'own_a.example',
        reason: 'domain_added',
        message: 'adds the verified domain a.example to organisation own, which existed before',
      },
      {
        type: 'privilege',
        id: 'own_bot',
        reason: 'privilege_added',
        message: 'gives the user bot ORG_USER_MANAGER in organisation own, which existed before',
      },
    ]);
    expect((await instance.import(overwriting(changed(['ORG_USER_MANAGER'])))).summary.warnings).toEqual([unproved]);
  });
});

const withState = (prefix: string, state: string) => ({ state: `${prefix}_STATE_${state}` });
const inState = (state: string, userState: string) =>
  organisation('O', {
    projects: [{ ...project, ...withState('PROJECT', state) }],
    humanUsers: [{ ...person('anna'), ...withState('USER', userState) }],
    machineUsers: [{ ...bot, ...withState('USER', userState) }],
    apiApps: [{ appId: 'A', app: { projectId: 'P', name: 'app' }, ...withState('APP', state) }],
    actions: [{ actionId: 'act', action: { name: 'act', script: 'x', timeout: '1s' }, ...withState('ACTION', state) }],
    projectGrants: [{ ...grant, ...withState('PROJECT_GRANT', state) }],
    userGrants: [{ userId: 'anna', projectId: 'P', ...withState('USER_GRANT', state) }],
  });

describe('a state that an overwrite changes', () => {
  it('is listed in the warnings for each kind of record, in a dry run too, and once', async () => {
    const instance = await testInstance(await openTestStore());
    await instance.import(request(organisation('own'), inState('ACTIVE', 'ACTIVE')));
    const changed = overwriting(inState('INACTIVE', 'LOCKED'));
    const kinds = ['PROJECT', 'USER', 'USER', 'APP', 'ACTION', 'PROJECT_GRANT', 'USER_GRANT'];
    const expected = kinds.map((name) => {
      const after = name === 'USER' ? 'LOCKED' : 'INACTIVE';
      return `state changed: ${name}_STATE_ACTIVE to ${name}_STATE_${after}`;
    });
    for (const dry_run of [true, false]) {
      const { errors, summary } = await instance.import({ ...changed, dry_run });
      expect(errors).toBeUndefined();
      expect(summary.warnings).toEqual(
        expect.arrayContaining(
          expected.map((message) => expect.objectContaining({ type: 'state', reason: 'state_changed', message })),
        ),
      );
      expect(summary.warnings).toHaveLength(1 + expected.length);
    }
    expect((await instance.import(changed)).summary.warnings).toEqual([unproved]);
  });
});
