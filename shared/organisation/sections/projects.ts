import { parseObject, textAt, valueAt } from '../../json/jsonObject.ts';
import { isGoUrl } from '../goUrl.ts';
import { deriveId, reorder } from '../recordBody.ts';
import { enumerationOr, textRule, trimmed, trimSpace } from '../valueRules.ts';
import { type FieldFact, type RecordFact, unexported } from '../zitadelFacts.ts';
import type { Section, SectionName } from './section.ts';
import { own, project, taken } from './sharedReferences.ts';

const oidcAppDefaults: Section['defaults'] = [
  { path: 'app.responseTypes', value: ['OIDC_RESPONSE_TYPE_CODE'] },
  { path: 'app.grantTypes', value: ['OIDC_GRANT_TYPE_AUTHORIZATION_CODE'] },
  { path: 'app.clockSkew', value: '0s' },
];

const LOGIN_URI = 'app.loginVersion.loginV2.baseUri';

/** Trims the base URI of a login page. The URI may be relative. Drops a text that is not a URI. */
const loginUri = textRule((text) => {
  const uri = trimSpace(text);
  return isGoUrl(uri) ? { value: uri || undefined } : { dropped: [text] };
});

const newClients: RecordFact = {
  does: 'also',
  text: 'ZITADEL gives applications new client ids and client secrets',
  steps: [
    { reason: 'client_ids_change', scope: 'file', remedy: 'configure the applications with the new ids and secrets' },
  ],
};

const refusedLogoutUri: FieldFact = {
  does: 'refuses',
  since: 'July 2026',
  fields: ['app.backChannelLogoutUri'],
  text: 'ZITADEL refuses an application whose `backChannelLogoutUri` has an unknown or a private host',
  steps: [
    {
      reason: 'logout_uri_refused',
      remedy: 'change HTTPClient.DenyList of ZITADEL, or import the application without this field',
      applies: ({ body }) => valueAt(parseObject(body), 'app.backChannelLogoutUri') !== undefined,
    },
  ],
};

export const projectSections: readonly Section[] = [
  {
    name: 'projects',
    inner: 'project',
    collection: 'projects',
    phase: 1,
    zitadelStep: 'projects',
    key: ['projectId'],
    canonicalise: (json, orgId) => {
      if (json.projectId !== undefined) return;
      reorder(json, { projectId: deriveId(orgId, textAt(json, 'project.name', orgId)), ...json });
    },
    optional: ['project.projectRoleAssertion'],
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
    zitadelStep: 'project roles',
    key: ['projectId', 'roleKey'],
    unique: [
      { type: 'projectRole', parts: ['projectId', 'roleKey'], taken: taken('Errors.Project.Role.AlreadyExists') },
    ],
    zitadel: { caseless: { kind: 'role', scope: 'projectId', name: 'roleKey' } },
    references: [own(project('projectId', 'COMMAND-EbFMN'))],
    error: { type: 'project_role', id: ['projectId', 'roleKey'], exists: taken('Errors.Project.Role.AlreadyExists') },
    success: { field: 'projectRoles', entry: ['projectId', 'roleKey'] },
  },
  application({ name: 'apiApps', type: 'api_app', existsId: 'PROJECT-mabu12', successField: 'apiAppIds' }),
  application({
    name: 'oidcApps',
    type: 'oidc_app',
    existsId: 'PROJECT-lxowmp',
    successField: 'oidcAppIds',
    facts: [unexported('app.backChannelLogoutUri', 'app.loginVersion'), refusedLogoutUri],
    values: {
      'app.redirectUris[]': trimmed,
      'app.responseTypes[]': enumerationOr('OIDC_RESPONSE_TYPE_CODE'),
      'app.grantTypes[]': enumerationOr('OIDC_GRANT_TYPE_AUTHORIZATION_CODE'),
      'app.postLogoutRedirectUris[]': trimmed,
      'app.additionalOrigins[]': trimmed,
      'app.backChannelLogoutUri': trimmed,
      [LOGIN_URI]: loginUri,
    },
    optional: [
      'app.devMode',
      'app.accessTokenRoleAssertion',
      'app.idTokenRoleAssertion',
      'app.idTokenUserinfoAssertion',
      'app.clockSkew',
      'app.skipNativeAppSuccessPage',
    ],
    defaults: oidcAppDefaults,
  }),
];

interface Application extends Pick<Section, 'additional' | 'check' | 'defaults' | 'optional' | 'values'> {
  readonly name: SectionName;
  readonly type: string;
  readonly existsId: string;
  readonly successField: string;
  readonly facts?: readonly FieldFact[];
}

/**
 * Creates the section of a kind of application. The sections of all kinds use the same collection, so two applications
 * of different kinds cannot have the same id.
 */
function application({ type, existsId, successField, facts = [], ...row }: Application): Section {
  return {
    ...row,
    inner: 'app',
    collection: 'applications',
    phase: 2,
    zitadelStep: 'applications',
    key: ['appId'],
    unique: [
      { type: 'application', parts: ['app.projectId', 'app.name'], taken: taken('Errors.Project.App.AlreadyExists') },
    ],
    zitadel: {
      fields: facts,
      records: [newClients],
      unexported: ['client ids and client secrets'],
      caseless: { kind: 'application', scope: 'app.projectId', name: 'app.name' },
    },
    references: [own(project('app.projectId', 'COMMAND-EbFMN'))],
    error: { type, id: ['appId'], exists: { id: existsId, key: 'Errors.Project.App.AlreadyExisting' } },
    success: { field: successField, entry: ['appId'] },
  };
}
