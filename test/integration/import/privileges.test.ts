import { describe, expect, it } from 'vitest';
import { organisation, unproved } from '../../support/fixtures/organisations.ts';
import { testInstance } from '../../support/instances/testInstance.ts';
import { openTestStore } from '../../support/stores/stores.ts';

const request = (...orgs: object[]) => ({ data_orgs: { orgs } });
const member = (roles: string[], more: object = {}) => ({ userId: 'bot', roles, ...more });
const bot = { userId: 'bot', user: { userName: 'bot', name: 'Bot' }, state: 'USER_STATE_ACTIVE' };
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
});
