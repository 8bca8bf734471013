import { describe, expect, it } from 'vitest';
import { type Organisation, organisation, person } from '../../support/fixtures/organisations.ts';
import { testInstance } from '../../support/instances/testInstance.ts';
import { openTestStore, sqlite } from '../../support/stores/stores.ts';

const request = (...orgs: Organisation[]) => ({ dataOrgs: { orgs }, timeout: '1m0s' });

const project = (projectId: string, more: object = {}) => ({
  projectId,
  project: { name: `name of ${projectId}`, ...more },
});
const role = (projectId: string, roleKey: string) => ({ projectId, roleKey, displayName: roleKey });
const grant = (grantId: string, projectId: string, grantedOrgId: string, ...roleKeys: string[]) => ({
  grantId,
  projectGrant: { projectId, grantedOrgId, roleKeys },
});

// The expectations of ZITADEL's own integration tests of its import, field by field; `summary` is an addition.
describe("an import of ZITADEL's own tests", () => {
  it('creates projects, roles, people, and grants of projects and of users over several organisations in case "success"', async () => {
    const instance = await testInstance(await openTestStore(sqlite));
    const { errors, success } = await instance.import(
      request(
        organisation('O0', {
          projects: [project('P0', { projectRoleAssertion: true }), project('P1')],
          projectRoles: [role('P0', 'role1'), role('P0', 'role2'), role('P1', 'role3'), role('P1', 'role4')],
          humanUsers: [person('U0'), person('U1')],
          projectGrants: [
            grant('G0', 'P0', 'O1', 'role1', 'role2'),
            grant('G1', 'P1', 'O1', 'role3', 'role4'),
            grant('G2', 'P0', 'O2', 'role1', 'role2'),
            grant('G3', 'P1', 'O2', 'role3', 'role4'),
          ],
        }),
        organisation('O1', {
          userGrants: [
            { userId: 'U0', projectId: 'P0', projectGrantId: 'G0' },
            { userId: 'U0', projectId: 'P1', projectGrantId: 'G1' },
          ],
        }),
        organisation('O2', {
          userGrants: [
            { userId: 'U1', projectId: 'P0', projectGrantId: 'G2' },
            { userId: 'U1', projectId: 'P1', projectGrantId: 'G3' },
          ],
        }),
      ),
    );
    expect({ errors, success }).toEqual({
      errors: undefined,
      success: {
        orgs: [
          {
            orgId: 'O0',
            projectIds: ['P0', 'P1'],
            projectRoles: ['P0_role1', 'P0_role2', 'P1_role3', 'P1_role4'],
            humanUserIds: ['U0', 'U1'],
            projectGrants: [
              { grantId: 'G0', projectId: 'P0', orgId: 'O1' },
              { grantId: 'G1', projectId: 'P1', orgId: 'O1' },
              { grantId: 'G2', projectId: 'P0', orgId: 'O2' },
              { grantId: 'G3', projectId: 'P1', orgId: 'O2' },
            ],
          },
          {
            orgId: 'O1',
            userGrants: [
              { projectId: 'P0', userId: 'U0' },
              { projectId: 'P1', userId: 'U0' },
            ],
          },
          {
            orgId: 'O2',
            userGrants: [
              { projectId: 'P0', userId: 'U1' },
              { projectId: 'P1', userId: 'U1' },
            ],
          },
        ],
      },
    });
  });

  it('creates the first grant and reports the second in case "duplicate project grant error"', async () => {
    const instance = await testInstance(await openTestStore(sqlite));
    const twice = grant('G4', 'P2', 'O4', 'role1', 'role2');
    const { errors, success, summary } = await instance.import(
      request(
        organisation('O4'),
        organisation('O3', {
          projects: [project('P2', { projectRoleAssertion: true }), project('P3')],
          projectRoles: [role('P2', 'role1'), role('P2', 'role2'), role('P3', 'role3'), role('P3', 'role4')],
          projectGrants: [twice, twice],
        }),
      ),
    );
    expect({ errors, success }).toEqual({
      errors: [
        { type: 'project_grant', id: 'O3_P2_O4', message: 'ID=V3-DKcYh Message=Errors.Project.Grant.AlreadyExists' },
      ],
      success: {
        orgs: [
          { orgId: 'O4' },
          {
            orgId: 'O3',
            projectIds: ['P2', 'P3'],
            projectRoles: ['P2_role1', 'P2_role2', 'P3_role3', 'P3_role4'],
            projectGrants: [{ grantId: 'G4', projectId: 'P2', orgId: 'O4' }],
          },
        ],
      },
    });
    expect(summary.created.projectGrants).toBe(1);
    expect(summary.failed).toEqual({ projectGrants: 1 });
  });

  it('creates the first member and reports the second in case "duplicate project grant member error"', async () => {
    const instance = await testInstance(await openTestStore(sqlite));
    const twice = { projectId: 'P4', grantId: 'G5', userId: 'U2', roles: ['PROJECT_GRANT_OWNER'] };
    const { errors, success } = await instance.import(
      request(
        organisation('O6'),
        organisation('O5', {
          projects: [project('P4', { projectRoleAssertion: true })],
          projectRoles: [role('P4', 'role1'), role('P4', 'role2')],
          humanUsers: [person('U2')],
          projectGrants: [grant('G5', 'P4', 'O6', 'role1', 'role2')],
          projectGrantMembers: [twice, twice],
        }),
      ),
    );
    expect({ errors, success }).toEqual({
      errors: [
        { type: 'project_grant_member', id: 'O5_P4_G5_U2', message: 'ID=PROJECT-37fug Message=Errors.AlreadyExists' },
      ],
      success: {
        orgs: [
          { orgId: 'O6' },
          {
            orgId: 'O5',
            projectIds: ['P4'],
            projectRoles: ['P4_role1', 'P4_role2'],
            humanUserIds: ['U2'],
            projectGrants: [{ grantId: 'G5', projectId: 'P4', orgId: 'O6' }],
            projectGrantMembers: [{ projectId: 'P4', grantId: 'G5', userId: 'U2' }],
          },
        ],
      },
    });
  });
});

describe('a reference to a missing record', () => {
  it.each<[string, object, string]>([
    ['the application of a key', { appKeys: [{ id: 'K' }] }, 'app_key'],
    ['the user of a key', { machineKeys: [{ keyId: 'K' }] }, 'machine_user_key'],
    ['the identity provider of a link', { userLinks: [{ userId: 'U', providedUserId: 'x' }] }, 'user_link'],
  ])('is an entry in errors even if it is empty: %s', async (_what, fields, type) => {
    const instance = await testInstance(await openTestStore(sqlite));
    const { errors } = await instance.import({
      ...request(organisation('O', { humanUsers: [person('U')], ...fields })),
      with_keys: true,
    });
    expect(errors?.map((error) => error.type)).toEqual([type]);
  });

  it('is valid if the record comes later in the document, or in another organisation', async () => {
    const instance = await testInstance(await openTestStore(sqlite));
    const { errors } = await instance.import(
      request(
        organisation('O1', {
          userGrants: [{ userId: 'U', projectId: 'P', projectGrantId: 'G' }],
          userMetadata: [{ id: 'V', key: 'k', value: 'eA==' }],
          humanUsers: [person('V')],
        }),
        organisation('O2', {
          projectGrants: [grant('G', 'P', 'O1')],
          projects: [project('P')],
          humanUsers: [person('U')],
        }),
      ),
    );
    expect(errors).toBeUndefined();
  });
});
