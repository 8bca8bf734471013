import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { importInto, parseOk, removeOtpEmail } from '../support/http/wire.ts';
import { describeDeployment } from '../support/instances/deployments.ts';

function personOf(userId: string) {
  const profile = { firstName: 'A', lastName: 'B', displayName: 'A B', preferredLanguage: 'en' };
  const user = { userName: userId, profile, email: { email: 'person@example.com', isEmailVerified: true } };
  return { userId, otpEmail: true, user };
}

const projectOf = (projectId: string) => ({ projectId, project: { name: projectId, projectRoleAssertion: true } });
const rolesOf = (projectId: string) =>
  ['role1', 'role2'].map((roleKey) => ({ projectId, roleKey, displayName: roleKey }));
const grantOf = (grantId: string, projectId: string, grantedOrgId: string) => ({
  grantId,
  projectGrant: { projectId, grantedOrgId, roleKeys: ['role1', 'role2'] },
});

/** Makes ids that are unique among the tests. */
function ids() {
  const run = randomUUID();
  return (name: string) => `${name}-${run}`;
}

describeDeployment("an import of ZITADEL's integration test", (get) => {
  const imported = async (...orgs: readonly object[]) => {
    const { errors, success } = await importInto(get().target, { data_orgs: { orgs }, timeout: '1m0s' });
    return { errors: errors?.map(({ type, id, message }) => ({ type, id, message })), orgs: success.orgs };
  };

  it('imports grants across three organisations', async () => {
    const id = ids();
    const [owner, first, second, project, user] = [id('o0'), id('o1'), id('o2'), id('p'), id('u')];
    const granting = {
      orgId: owner,
      org: { name: owner },
      projects: [projectOf(project)],
      projectRoles: rolesOf(project),
      humanUsers: [personOf(user)],
      projectGrants: [grantOf(id('g1'), project, first), grantOf(id('g2'), project, second)],
    };
    const granted = (orgId: string, projectGrantId: string) => ({
      orgId,
      org: { name: orgId },
      userGrants: [{ userId: user, projectId: project, projectGrantId }],
    });
    expect(await imported(granting, granted(first, id('g1')), granted(second, id('g2')))).toEqual({
      errors: undefined,
      orgs: [
        {
          orgId: owner,
          projectIds: [project],
          projectRoles: [`${project}_role1`, `${project}_role2`],
          humanUserIds: [user],
          projectGrants: [
            { grantId: id('g1'), projectId: project, orgId: first },
            { grantId: id('g2'), projectId: project, orgId: second },
          ],
        },
        { orgId: first, userGrants: [{ projectId: project, userId: user }] },
        { orgId: second, userGrants: [{ projectId: project, userId: user }] },
      ],
    });
  });

  it('reports the second of two equal project grants, and the second of two equal members', async () => {
    const id = ids();
    const [owner, other, project, user, grantId] = [id('o3'), id('o4'), id('p'), id('u'), id('g')];
    const grant = grantOf(grantId, project, other);
    const member = { projectId: project, grantId, userId: user, roles: ['PROJECT_GRANT_OWNER'] };
    const granting = {
      orgId: owner,
      org: { name: owner },
      projects: [projectOf(project)],
      projectRoles: rolesOf(project),
      humanUsers: [personOf(user)],
      projectGrants: [grant, grant],
      projectGrantMembers: [member, member],
    };
    const { errors, orgs } = await imported({ orgId: other, org: { name: other } }, granting);
    expect(errors).toEqual([
      {
        type: 'project_grant',
        id: `${owner}_${project}_${other}`,
        message: 'ID=V3-DKcYh Message=Errors.Project.Grant.AlreadyExists',
      },
      {
        type: 'project_grant_member',
        id: `${owner}_${project}_${grantId}_${user}`,
        message: 'ID=PROJECT-37fug Message=Errors.AlreadyExists',
      },
    ]);
    expect(orgs?.[1]).toMatchObject({
      projectGrants: [{ grantId, projectId: project, orgId: other }],
      projectGrantMembers: [{ projectId: project, grantId, userId: user }],
    });
  });

  it('imports a user id with slashes and other scripts, and a removal finds that user', async () => {
    const id = ids();
    const user = personOf(`é/${id('日本')}`);
    await imported({ orgId: id('org'), org: { name: id('org') }, humanUsers: [user] });
    parseOk(await removeOtpEmail(get().target, user.userId));
  });
});
