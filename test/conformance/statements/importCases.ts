import type { Row } from '../row.ts';
import type { Subjects } from '../subjects.ts';
import { duplicate, equals, importing, includes, projectOf, row, unlike } from './statement.ts';

const ORIGIN = 'zitadel 8.1';
const NO_DATABASE = 'An error tells nothing of the database behind it, as ZITADEL’s does in its Parent.';

/** The three cases of ZITADEL's own integration test of the import. */
export function importCases(subjects: Subjects): Row[] {
  return [success(subjects), ...duplicateGrant(subjects), duplicateGrantMember(subjects)];
}

const importAll = (orgs: readonly object[]) => importing({ dataOrgs: { orgs }, timeout: '1m0s' });

const roleOf = (projectId: string, ...keys: readonly string[]) =>
  keys.map((roleKey) => ({ projectId, roleKey, displayName: roleKey }));

function personOf(userId: string) {
  const profile = { firstName: userId, lastName: userId, displayName: userId, preferredLanguage: userId.slice(0, 10) };
  return { userId, user: { userName: userId, profile, email: { email: `${userId}@r.tld`, isEmailVerified: true } } };
}

function success({ id }: Subjects): Row {
  const [o0, o1, o2, p0, p1, u0, u1] = [id('o0'), id('o1'), id('o2'), id('p0'), id('p1'), id('u0'), id('u1')];
  const [g0, g1, g2, g3] = [id('g0'), id('g1'), id('g2'), id('g3')];
  const granted = (grantId: string, projectId: string, grantedOrgId: string, roleKeys: readonly string[]) => ({
    grantId,
    projectGrant: { projectId, grantedOrgId, roleKeys },
  });
  const orgs = [
    {
      orgId: o0,
      org: { name: o0 },
      projects: [projectOf(p0, { projectRoleAssertion: true }), projectOf(p1)],
      projectRoles: [...roleOf(p0, 'role1', 'role2'), ...roleOf(p1, 'role3', 'role4')],
      humanUsers: [personOf(u0), personOf(u1)],
      projectGrants: [
        granted(g0, p0, o1, ['role1', 'role2']),
        granted(g1, p1, o1, ['role3', 'role4']),
        granted(g2, p0, o2, ['role1', 'role2']),
        granted(g3, p1, o2, ['role3', 'role4']),
      ],
    },
    { orgId: o1, org: { name: o1 }, userGrants: [userGrant(u0, p0, g0), userGrant(u0, p1, g1)] },
    { orgId: o2, org: { name: o2 }, userGrants: [userGrant(u1, p0, g2), userGrant(u1, p1, g3)] },
  ];
  const expected = [
    {
      orgId: o0,
      projectIds: [p0, p1],
      projectRoles: [`${p0}_role1`, `${p0}_role2`, `${p1}_role3`, `${p1}_role4`],
      humanUserIds: [u0, u1],
      projectGrants: [
        { grantId: g0, projectId: p0, orgId: o1 },
        { grantId: g1, projectId: p1, orgId: o1 },
        { grantId: g2, projectId: p0, orgId: o2 },
        { grantId: g3, projectId: p1, orgId: o2 },
      ],
    },
    {
      orgId: o1,
      userGrants: [
        { projectId: p0, userId: u0 },
        { projectId: p1, userId: u0 },
      ],
    },
    {
      orgId: o2,
      userGrants: [
        { projectId: p0, userId: u1 },
        { projectId: p1, userId: u1 },
      ],
    },
  ];
  return row(ORIGIN, 'success', importAll(orgs), equals({ success: { orgs: expected } }));
}

const userGrant = (userId: string, projectId: string, projectGrantId: string) => ({
  userId,
  projectId,
  projectGrantId,
});

function duplicateGrant({ id }: Subjects): Row[] {
  const [o3, o4, p2, p3, grantId] = [id('o3'), id('o4'), id('p2'), id('p3'), id('g4')];
  const grant = { grantId, projectGrant: { projectId: p2, grantedOrgId: o4, roleKeys: ['role1', 'role2'] } };
  const orgs = [
    { orgId: o4, org: { name: o4 } },
    {
      orgId: o3,
      org: { name: o3 },
      projects: [projectOf(p2, { projectRoleAssertion: true }), projectOf(p3)],
      projectRoles: [...roleOf(p2, 'role1', 'role2'), ...roleOf(p3, 'role3', 'role4')],
      projectGrants: [grant, grant],
    },
  ];
  const message = 'ID=V3-DKcYh Message=Errors.Project.Grant.AlreadyExists';
  const created = {
    orgId: o3,
    projectIds: [p2, p3],
    projectRoles: [`${p2}_role1`, `${p2}_role2`, `${p3}_role3`, `${p3}_role4`],
    projectGrants: [{ grantId, projectId: p2, orgId: o4 }],
  };
  const fault = { type: 'project_grant', id: `${o3}_${p2}_${o4}` };
  const orgsDone = { orgs: [{ orgId: o4 }, created] };
  return unlike(ORIGIN, 'duplicate project grant error', NO_DATABASE, importAll(orgs), {
    ours: equals({ errors: [{ ...fault, message }], success: orgsDone }),
    zitadel: includes({ errors: [{ ...fault, message: duplicate(message) }], success: orgsDone }),
  });
}

function duplicateGrantMember({ id }: Subjects): Row {
  const [o5, o6, projectId, userId, grantId] = [id('o5'), id('o6'), id('p4'), id('u2'), id('g5')];
  const member = { projectId, grantId, userId, roles: ['PROJECT_GRANT_OWNER'] };
  const orgs = [
    { orgId: o6, org: { name: o6 } },
    {
      orgId: o5,
      org: { name: o5 },
      projects: [projectOf(projectId, { projectRoleAssertion: true })],
      projectRoles: roleOf(projectId, 'role1', 'role2'),
      humanUsers: [personOf(userId)],
      projectGrants: [{ grantId, projectGrant: { projectId, grantedOrgId: o6, roleKeys: ['role1', 'role2'] } }],
      projectGrantMembers: [member, member],
    },
  ];
  const created = {
    orgId: o5,
    projectIds: [projectId],
    projectRoles: [`${projectId}_role1`, `${projectId}_role2`],
    humanUserIds: [userId],
    projectGrants: [{ grantId, projectId, orgId: o6 }],
    projectGrantMembers: [{ projectId, grantId, userId }],
  };
  const faulty = { type: 'project_grant_member', id: `${o5}_${projectId}_${grantId}_${userId}` };
  const errors = [{ ...faulty, message: 'ID=PROJECT-37fug Message=Errors.AlreadyExists' }];
  const expected = equals({ errors, success: { orgs: [{ orgId: o6 }, created] } });
  return row(ORIGIN, 'duplicate project grant member error', importAll(orgs), expected);
}
