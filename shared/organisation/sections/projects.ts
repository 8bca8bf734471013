import { deactivatable, own, project, type Section, taken } from '../section.ts';

/** The sections of projects, their roles and applications. */
export const projectSections: readonly Section[] = [
  {
    name: 'projects',
    inner: 'project',
    collection: 'projects',
    phase: 1,
    key: ['projectId'],
    ...deactivatable('PROJECT_STATE'),
    unique: [{ type: 'project', parts: ['$orgId', 'project.name'], taken: taken('Errors.Project.AlreadyExists') }],
    error: {
      type: 'project',
      id: ['projectId'],
      exists: { id: 'COMMAND-opamwu', key: 'Errors.Project.AlreadyExisting' },
    },
    success: { field: 'projectIds', entry: ['projectId'] },
  },
  {
    name: 'projectRoles',
    collection: 'projectRoles',
    phase: 2,
    key: ['projectId', 'roleKey'],
    references: [
      {
        ...project('projectId', 'COMMAND-EbFMN'),
        ifForeign: { id: 'PROJECT-RLB4UpqQSd', key: 'Errors.Project.Role.Invalid' },
      },
    ],
    error: { type: 'project_role', id: ['projectId', 'roleKey'], exists: taken('Errors.Project.Role.AlreadyExists') },
    success: { field: 'projectRoles', entry: ['projectId', 'roleKey'] },
  },
  application('apiApps', 'api_app', 'PROJECT-mabu12', 'apiAppIds'),
  {
    ...application('oidcApps', 'oidc_app', 'PROJECT-lxowmp', 'oidcAppIds'),
    defaults: {
      'app.responseTypes': ['OIDC_RESPONSE_TYPE_CODE'],
      'app.grantTypes': ['OIDC_GRANT_TYPE_AUTHORIZATION_CODE'],
      'app.clockSkew': '0s',
    },
  },
];

/** Creates the section of one kind of application. All kinds share one id space. */
function application(name: string, type: string, existsId: string, successField: string): Section {
  return {
    name,
    inner: 'app',
    collection: 'applications',
    phase: 2,
    key: ['appId'],
    ...deactivatable('APP_STATE'),
    references: [own(project('app.projectId', 'COMMAND-EbFMN'))],
    error: { type, id: ['appId'], exists: { id: existsId, key: 'Errors.Project.App.AlreadyExisting' } },
    success: { field: successField, entry: ['appId'] },
  };
}
