import { type JsonObject, textAt, textsAt } from '../../json/jsonObject.ts';
import type { RecordIssue } from '../relations.ts';
import { deactivatable, type Section } from '../section.ts';
import type { RecordWarning } from '../warnings.ts';
import { own, project, projectRoles, taken, user } from './references.ts';

/** The warning of a grant to the granting organisation itself. */
const grantedToItself: RecordWarning = {
  reason: 'grant_to_itself',
  message: 'grants a project to its own organisation: not imported; user grants with its id are imported without it',
};

/** The issue of a user grant without a project grant of its project to its organisation. */
const grantMissing: RecordIssue = { id: 'COMMAND-4m9ff', key: 'Errors.Project.Grant.NotFound' };

/** The issue of a user grant with a role that its project or project grant lacks. */
const roleMissing: RecordIssue = { id: 'COMMAND-mm9F4', key: 'Errors.Project.Role.NotFound' };

/** The issue of a project grant that would lose roles which user grants through it still use. */
export const rolesInUse: RecordIssue = { id: 'IMPORT-rolesInUse', key: 'Errors.Project.Grant.RolesInUse' };

/** The section of project grants to organisations. */
export const projectGrantSection: Section = {
  name: 'projectGrants',
  inner: 'projectGrant',
  collection: 'projectGrants',
  phase: 3,
  zitadelStep: 'project grants',
  key: ['grantId'],
  ...deactivatable('PROJECT_GRANT_STATE'),
  unique: [
    {
      type: 'projectGrant',
      parts: ['projectGrant.projectId', 'projectGrant.grantedOrgId'],
      taken: taken('Errors.Project.Grant.AlreadyExists'),
    },
  ],
  references: [
    own(project('projectGrant.projectId', 'COMMAND-m9gsd')),
    {
      collection: 'organisations',
      key: ['projectGrant.grantedOrgId'],
      missing: { id: 'COMMAND-3m9gg', key: 'Errors.Org.NotFound' },
      ifOwn: grantedToItself,
    },
    projectRoles('projectGrant.projectId', 'projectGrant.roleKeys[]', 'COMMAND-6m9gd'),
  ],
  fixed: ['projectGrant.projectId', 'projectGrant.grantedOrgId'],
  error: {
    type: 'project_grant',
    id: ['$orgId', 'projectGrant.projectId', 'projectGrant.grantedOrgId'],
    exists: taken('Errors.Project.Grant.AlreadyExists'),
  },
  success: {
    field: 'projectGrants',
    entry: { grantId: 'grantId', projectId: 'projectGrant.projectId', orgId: 'projectGrant.grantedOrgId' },
  },
};

/** The section of user grants. */
export const userGrantSection: Section = {
  name: 'userGrants',
  collection: 'userGrants',
  phase: 4,
  zitadelStep: 'user grants',
  key: ['$orgId', 'userId', 'projectId', 'projectGrantId'],
  exported: { ofProject: 'projectId' },
  fills: {
    field: 'projectGrantId',
    claim: { type: 'projectGrant', parts: ['projectId', '$orgId'] },
    from: { collection: 'projectGrants', id: 'grantId' },
    unsetBesideOwn: { collection: 'projects', id: 'projectId' },
  },
  ...deactivatable('USER_GRANT_STATE'),
  references: [
    user('userId', 'COMMAND-4f8sg'),
    // ZITADEL takes an unknown project for a foreign one, which needs a grant.
    {
      collection: 'projects',
      key: ['projectId'],
      missing: grantMissing,
      ifForeign: grantMissing,
      permittedBy: { type: 'projectGrant', parts: ['projectId', '$orgId'] },
    },
    {
      collection: 'projectGrants',
      key: ['projectGrantId'],
      missing: grantMissing,
      // A project grant has no roles for the organisation that owns the project.
      missingBesideOwn: { collection: 'projects', issue: roleMissing },
      optional: true,
      check: checkUsedProjectGrant,
    },
    projectRoles('projectId', 'roleKeys[]', roleMissing.id),
  ],
  error: {
    type: 'user_grant',
    id: ['$orgId', 'projectId', 'userId'],
    exists: taken('Errors.UserGrant.AlreadyExists'),
  },
  success: { field: 'userGrants', entry: { projectId: 'projectId', userId: 'userId' } },
};

/** The sections of project grants and user grants. */
export const grantSections: readonly Section[] = [projectGrantSection, userGrantSection];

/** Checks that a user grant's project grant has the same project, the user grant's organisation and its roles. */
function checkUsedProjectGrant(grant: JsonObject, record: JsonObject, orgId: string): RecordIssue | undefined {
  const isOfProject = textAt(grant, 'projectGrant.projectId', orgId) === record.projectId;
  if (!isOfProject || textAt(grant, 'projectGrant.grantedOrgId', orgId) !== orgId) {
    return grantMissing;
  }
  const granted = new Set(textsAt(grant, 'projectGrant.roleKeys[]', orgId));
  const areGranted = textsAt(record, 'roleKeys[]', orgId).every((role) => granted.has(role));
  return areGranted ? undefined : roleMissing;
}
