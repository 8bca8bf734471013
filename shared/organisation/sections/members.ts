import { type JsonObject, textAt } from '../../json/jsonObject.ts';
import { project, type RecordIssue, type Section, user } from '../section.ts';

/** The section of an organisation's members. */
export const orgMemberSection: Section = {
  name: 'orgMembers',
  collection: 'members',
  phase: 3,
  key: ['=organisation', '$orgId', 'userId'],
  check: checkOrganisationMember,
  references: [user('userId', 'ORG-GoXOn')],
  error: {
    type: 'org_member',
    id: ['$orgId', 'userId'],
    exists: { id: 'ORG-poWwe', key: 'Errors.Org.Member.AlreadyExists' },
  },
  success: { field: 'orgMembers', entry: ['userId'] },
};

const projectGrantMissing: RecordIssue = { id: 'PROJECT-D8JxR', key: 'Errors.Project.Grant.NotFound' };

/** The sections of members of organisations, projects and project grants. */
export const memberSections: readonly Section[] = [
  orgMemberSection,
  {
    name: 'projectMembers',
    collection: 'members',
    phase: 3,
    key: ['=project', 'projectId', 'userId'],
    ofProject: 'projectId',
    // ZITADEL exports each project's members under every organisation; an import keeps those under the project's own.
    references: [
      { ...project('projectId', 'COMMAND-EbFMN'), ifForeign: 'notCarried' },
      user('userId', 'IMPORT-userMissing'),
    ],
    error: {
      type: 'project_member',
      id: ['$orgId', 'projectId', 'userId'],
      exists: { id: 'PROJECT-PtXi1', key: 'Errors.Project.Member.AlreadyExists' },
    },
    success: { field: 'projectMembers', entry: { projectId: 'projectId', userId: 'userId' } },
  },
  {
    name: 'projectGrantMembers',
    collection: 'members',
    phase: 4,
    key: ['=projectGrant', 'projectId', 'grantId', 'userId'],
    ofProject: 'projectId',
    references: [
      {
        collection: 'projectGrants',
        key: ['grantId'],
        missing: projectGrantMissing,
        check: checkMembersProjectGrant,
      },
      user('userId', 'IMPORT-userMissing'),
    ],
    error: {
      type: 'project_grant_member',
      id: ['$orgId', 'projectId', 'grantId', 'userId'],
      exists: { id: 'PROJECT-37fug', key: 'Errors.AlreadyExists' },
    },
    success: {
      field: 'projectGrantMembers',
      entry: { projectId: 'projectId', grantId: 'grantId', userId: 'userId' },
    },
  },
];

/** Checks that an organisation's member holds only organisation roles. */
export function checkOrganisationMember({ roles }: JsonObject): RecordIssue | undefined {
  const held: readonly unknown[] = Array.isArray(roles) ? roles : [];
  const areOrganisationRoles = held.every((role) => typeof role === 'string' && role.startsWith('ORG_'));
  return areOrganisationRoles ? undefined : { id: 'Org-4N8es', key: 'Errors.Org.MemberInvalid' };
}

/** Checks that the project grant of a member is one of the member's project. */
function checkMembersProjectGrant(
  grant: JsonObject,
  { projectId }: JsonObject,
  orgId: string,
): RecordIssue | undefined {
  return textAt(grant, 'projectGrant.projectId', orgId) === projectId ? undefined : projectGrantMissing;
}
