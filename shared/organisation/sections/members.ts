import { type JsonObject, textAt } from '../../json/jsonObject.ts';
import type { KeyedIssue } from '../relations.ts';
import { areCompatible, type MembershipScope } from '../roles.ts';
import { ORGANISATION_FIELD } from '../zitadelFacts.ts';
import type { GivenPrivilege, Section, ValueRule } from './section.ts';
import { inOrganisation, project, user } from './sharedReferences.ts';

/**
 * Creates a check of a member's roles.
 * @param none the issue if the member has no roles
 * @param invalid the issue if a role is unknown or belongs to another scope
 */
function rolesCheck(scope: MembershipScope, none: KeyedIssue, invalid: KeyedIssue): NonNullable<Section['check']> {
  return ({ roles: held }) => {
    if (!Array.isArray(held) || held.length === 0) return none;
    if (areCompatible(scope, held)) return undefined;
    return { ...invalid, params: { roles: held.map((role) => JSON.stringify(role)).join(', ') } };
  };
}

/**
 * Creates a rule that drops invalid roles from a list. If no role is valid, the rule keeps the list unchanged, and
 * `rolesCheck` rejects the member.
 */
function validRoles(scope: MembershipScope): ValueRule {
  return (held) => {
    if (!Array.isArray(held) || areCompatible(scope, held)) return { value: held };
    const [kept, dropped] = [true, false].map((isKept) =>
      held.filter((role) => areCompatible(scope, [role]) === isKept),
    );
    return kept?.length === 0 ? { value: held } : { value: kept, dropped: dropped?.map(String) ?? [] };
  };
}

const projectGrantMissing: KeyedIssue = { id: 'PROJECT-D8JxR', key: 'Errors.Project.Grant.NotFound' };
const projectGrantForeign: KeyedIssue = { id: 'PROJECT-0l10S9OmZV', key: 'Errors.Project.Grant.Invalid' };

const inProject: GivenPrivilege = {
  type: 'privilege',
  texts: 'roles[]',
  within: { collection: 'projects', key: ['projectId'] },
  noun: 'project',
};

export const orgMemberSection: Section = {
  name: 'orgMembers',
  collection: 'members',
  phase: 3,
  zitadelStep: 'members',
  key: ['=organisation', '$orgId', 'userId'],
  values: { roles: validRoles('organisation') },
  check: rolesCheck(
    'organisation',
    { id: 'ORG-4Mlfs', key: 'Errors.Invalid.Argument', params: { field: '`roles`' } },
    { id: 'Org-4N8es', key: 'Errors.Org.MemberInvalid' },
  ),
  references: [user('userId', 'ORG-GoXOn')],
  privilege: { type: 'privilege', texts: 'roles[]', ...inOrganisation },
  error: {
    type: 'org_member',
    id: ['$orgId', 'userId'],
    exists: { id: 'ORG-poWwe', key: 'Errors.Org.Member.AlreadyExists' },
  },
  success: { field: 'orgMembers', entry: ['userId'] },
};

export const memberSections: readonly Section[] = [
  orgMemberSection,
  {
    name: 'projectMembers',
    collection: 'members',
    phase: 3,
    zitadelStep: 'members',
    key: ['=project', 'projectId', 'userId'],
    values: { roles: validRoles('project') },
    check: rolesCheck(
      'project',
      { id: 'PROJECT-W8m4l', key: 'Errors.Project.Member.Invalid' },
      { id: 'PROJECT-3m9ds', key: 'Errors.Project.Member.Invalid' },
    ),
    exported: { ofProject: 'projectId' },
    zitadel: {
      records: [
        {
          does: 'imports not',
          text: "ZITADEL exports each project's members under every organisation, and imports only those under the organisation of the project",
          dependsOnFile: true,
          when: ({ json, orgId }, file) => (file.ownerOf(textAt(json, 'projectId', orgId)) ?? orgId) !== orgId,
        },
      ],
    },
    // ZITADEL's export repeats the members under every organisation. An import stores only those under the organisation
    // that owns the project.
    references: [
      user('userId', 'COMMAND-uXHNj'),
      { ...project('projectId', 'COMMAND-EbFMN'), ifForeign: 'notCarried' },
    ],
    privilege: inProject,
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
    zitadelStep: 'members',
    key: ['=projectGrant', 'projectId', 'grantId', 'userId'],
    values: { roles: validRoles('projectGrant') },
    check: rolesCheck(
      'projectGrant',
      { id: 'PROJECT-8fi7G', key: 'Errors.Project.Grant.Member.Invalid' },
      { id: 'PROJECT-m9gKK', key: 'Errors.Project.Grant.Member.Invalid' },
    ),
    exported: { ofProject: 'projectId' },
    zitadel: {
      movesRecords: true,
      fields: [
        {
          does: 'changes',
          fields: [ORGANISATION_FIELD],
          text: "ZITADEL keeps the members of a project grant in the project's organisation",
          explains: () => true,
        },
      ],
    },
    references: [
      user('userId', 'COMMAND-uXHNj'),
      {
        collection: 'projectGrants',
        key: ['grantId'],
        missing: projectGrantMissing,
        ifForeign: projectGrantForeign,
        openTo: 'projectGrant.grantedOrgId',
        check: checkMembersProjectGrant,
      },
    ],
    privilege: inProject,
    error: {
      type: 'project_grant_member',
      id: ['$orgId', 'projectId', 'grantId', 'userId'],
      exists: { id: 'PROJECT-37fug', key: 'Errors.AlreadyExists' },
      existsToo: [{ id: 'V3-DKcYh', release: '2' }],
    },
    success: {
      field: 'projectGrantMembers',
      entry: { projectId: 'projectId', grantId: 'grantId', userId: 'userId' },
    },
  },
];

function checkMembersProjectGrant(grant: JsonObject, { projectId }: JsonObject, orgId: string): KeyedIssue | undefined {
  return textAt(grant, 'projectGrant.projectId', orgId) === projectId ? undefined : projectGrantMissing;
}
