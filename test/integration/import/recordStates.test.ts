import { describe, expect, it } from 'vitest';
import { comparable } from '../../support/fixtures/comparable.ts';
import { organisation, person } from '../../support/fixtures/organisations.ts';
import { errorInfo } from '../../support/http/errorInfo.ts';
import { testInstance } from '../../support/instances/testInstance.ts';
import { openTestStore, sqlite } from '../../support/stores/stores.ts';

/** An organisation with a record of each kind without a state in ZITADEL's document, each with the given state. */
function stateful(suffix?: string) {
  const state = (prefix: string) => (suffix === undefined ? {} : { state: `${prefix}_${suffix}` });
  return organisation('O', {
    projects: [{ projectId: 'P', project: { name: 'P' }, ...state('PROJECT_STATE') }],
    projectRoles: [{ projectId: 'P', roleKey: 'r', displayName: 'r' }],
    apiApps: [{ appId: 'A', app: { projectId: 'P', name: 'A' }, ...state('APP_STATE') }],
    oidcApps: [{ appId: 'W', app: { projectId: 'P', name: 'W', clockSkew: '1s' }, ...state('APP_STATE') }],
    humanUsers: [{ ...person('U'), state: 'USER_STATE_ACTIVE' }],
    actions: [{ actionId: 'C', action: { name: 'C', script: 'C', timeout: '5s' }, ...state('ACTION_STATE') }],
    projectGrants: [
      { grantId: 'G', projectGrant: { projectId: 'P', grantedOrgId: 'X' }, ...state('PROJECT_GRANT_STATE') },
    ],
    userGrants: [{ userId: 'U', projectId: 'P', roleKeys: ['r'], ...state('USER_GRANT_STATE') }],
    orgState: 'ORG_STATE_ACTIVE',
  });
}

const STATEFUL = 6;
const states = (text: string) => text.match(/"state":"(?!USER_STATE)\w+"/g) ?? [];
const fileOf = (org: object) => ({ orgs: [organisation('X', { orgState: 'ORG_STATE_ACTIVE' }), org] });

describe('the state of a project, application, action or grant', () => {
  it('is kept through import and export if the record is inactive in the file', async () => {
    const source = await testInstance(await openTestStore(sqlite));
    const { errors, summary } = await source.import({ data_orgs: fileOf(stateful('INACTIVE')) });
    expect({ errors, notCarried: summary.notCarried }).toEqual({ errors: undefined, notCarried: {} });
    const first = await source.export();
    expect(first.orgs.find(({ orgId }) => orgId === 'O')).toMatchObject({
      projects: [{ projectId: 'P', state: 'PROJECT_STATE_INACTIVE' }],
      apiApps: [{ appId: 'A', state: 'APP_STATE_INACTIVE' }],
      oidcApps: [{ appId: 'W', state: 'APP_STATE_INACTIVE' }],
      actions: [{ actionId: 'C', state: 'ACTION_STATE_INACTIVE' }],
      projectGrants: [{ grantId: 'G', state: 'PROJECT_GRANT_STATE_INACTIVE' }],
      userGrants: [{ userId: 'U', state: 'USER_GRANT_STATE_INACTIVE' }],
    });
    const target = await testInstance(await openTestStore(sqlite));
    const copied = await target.import({ data_orgs: JSON.parse(first.bytes) });
    expect({ errors: copied.errors, proved: copied.summary.proved }).toEqual({ errors: undefined, proved: true });
    const second = await target.export();
    expect(comparable(second.orgs)).toEqual(comparable(first.orgs));
    expect(second.manifest.digest).toBe(first.manifest.digest);
  });

  it('is not written if the record is active, because ZITADEL writes none', async () => {
    const instance = await testInstance(await openTestStore(sqlite));
    await instance.import({ data_orgs: fileOf(stateful('ACTIVE')) });
    expect(states((await instance.export()).bytes)).toEqual([]);
    const { summary } = await instance.import({ data_orgs: fileOf(stateful()) });
    expect(summary.created).toEqual({});
    expect(summary.failed).toEqual({});
  });

  it('is kept by an overwrite without a state, and changed by one with a state', async () => {
    const instance = await testInstance(await openTestStore(sqlite));
    const overwrite = async (org: object) => {
      const { summary } = await instance.import({ data_orgs: fileOf(org), on_conflict: 'overwrite' });
      return summary.overwritten ?? {};
    };
    await instance.import({ data_orgs: fileOf(stateful('INACTIVE')) });
    expect(await overwrite(stateful())).toEqual({});
    const renamed = { ...stateful(), projects: [{ projectId: 'P', project: { name: 'renamed' } }] };
    expect(await overwrite(renamed)).toEqual({ projects: 1 });
    const kept = await instance.export();
    expect(kept.bytes).toContain('"renamed"');
    expect(states(kept.bytes)).toHaveLength(STATEFUL);

    expect(await overwrite({ ...stateful('ACTIVE'), projects: renamed.projects })).toMatchObject({ actions: 1 });
    expect(states((await instance.export()).bytes)).toEqual(['"state":"PROJECT_STATE_INACTIVE"']);
    await overwrite(stateful('ACTIVE'));
    expect(states((await instance.export()).bytes)).toEqual([]);
    expect(await overwrite(stateful())).toEqual({});
  });

  it.each(['PROJECT_STATE_ASLEEP', 'USER_STATE_ACTIVE', 2])('is rejected if it is unknown: %s', async (state) => {
    const instance = await testInstance(await openTestStore(sqlite));
    const org = { ...stateful(), projects: [{ projectId: 'P', project: { name: 'P' }, state }] };
    const { status, body } = await instance.refusedImport({ data_orgs: fileOf(org) });
    const description = expect.stringContaining(`unknown state ${JSON.stringify(state)}: expected PROJECT_STATE_`);
    expect(status).toBe(400);
    expect(body).toMatchObject({
      details: [
        { fieldViolations: [{ field: 'orgs[1].projects[0].state', description }] },
        errorInfo('INVALID_REQUEST'),
      ],
    });
  });
});
