import { organisation, person } from '../fixtures/organisations.ts';

/**
 * Organisations with a member of a project grant. ZITADEL stores the member in the other organisation, that of the
 * project.
 */
export const organisationsWithGrantMember = [
  organisation('1', {
    projects: [{ projectId: 'shop', project: { name: 'Shop' } }],
    projectRoles: [{ projectId: 'shop', roleKey: 'admin', displayName: 'Admin' }],
    projectGrants: [{ grantId: 'grant', projectGrant: { projectId: 'shop', grantedOrgId: '2', roleKeys: ['admin'] } }],
  }),
  organisation('2', {
    humanUsers: [person('eve')],
    projectGrantMembers: [{ projectId: 'shop', grantId: 'grant', userId: 'eve', roles: ['PROJECT_GRANT_OWNER'] }],
  }),
];
