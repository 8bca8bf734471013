import type { Row } from '../row.ts';
import type { Subjects } from '../subjects.ts';
import {
  equals,
  error,
  exporting,
  human,
  importing,
  importingOrgs,
  includes,
  organisation,
  row,
  rowOf,
  unlike,
} from './statement.ts';

const ORIGIN = 'zitadel 1.1';

/** The JSON of requests and answers. */
export function jsonMapping({ id }: Subjects): Row[] {
  /** An organisation with this content comes back with that. */
  const kept = (name: string, content: (orgId: string) => object, exported: object) => {
    const orgId = id(name);
    return rowOf(ORIGIN, name, [
      {
        request: importingOrgs(organisation(orgId, content(orgId))),
        expected: includes({ errors: undefined, success: { orgs: [{ orgId }] } }),
      },
      {
        request: exporting({ orgIds: [orgId] }),
        expected: includes({ orgs: [{ orgId, ...exported }] }),
        follows: true,
      },
    ]);
  };
  const refused = (name: string, content: string, message: RegExp, zitadel: RegExp) => {
    const body = `{"timeout":"1m","dataOrgs":{"orgs":[{"orgId":"${id('refused')}",${content}}]}}`;
    return unlike(ORIGIN, name, OWN_TEXT, importing(body), {
      ours: error(400, 3, message),
      zitadel: error(400, 3, zitadel),
    });
  };
  const metadata = (value: string) => (orgId: string) => ({
    humanUsers: [human(`person-${orgId}`)],
    userMetadata: [{ id: `person-${orgId}`, key: 'k', value }],
  });
  const project = (more: object) => (orgId: string) => ({
    projects: [{ projectId: `project-${orgId}`, project: { name: 'P', ...more } }],
  });
  const app = (clockSkew: string) => (orgId: string) => ({
    ...project({})(orgId),
    oidcApps: [
      {
        appId: `app-${orgId}`,
        app: { projectId: `project-${orgId}`, name: 'A', redirectUris: ['https://app.example/cb'], clockSkew },
      },
    ],
  });
  const exportedProject = (fields: object) => ({ projects: [{ project: { name: 'P', ...fields } }] });
  return [
    ...spellings(id),
    ...refused(
      'both spellings of a field at depth are refused',
      '"projects":[{"projectId":"1","project_id":"1","project":{"name":"P"}}]',
      /^orgs\[0\].projects\[0\]: .*project_id/,
      /^proto: \(line 1:\d+\): duplicate field "project_id"$/,
    ),
    ...refused(
      'the same field twice at depth is refused',
      '"projects":[{"projectId":"1","projectId":"1","project":{"name":"P"}}]',
      /projectId/,
      /^proto: \(line 1:\d+\): duplicate field "projectId"$/,
    ),
    kept(
      'unknown fields are dropped at every depth',
      () => ({
        nonsense: { a: [1] },
        projects: [{ projectId: id('unknown-fields'), more: 1, project: { name: 'P', colour: 'red' } }],
      }),
      { nonsense: undefined, ...exportedProject({ colour: undefined }) },
    ),
    kept('an enum is taken by its name', project({ privateLabelingSetting: LABELLING }), exportedProject(labelling)),
    kept('an enum is taken by its number', project({ privateLabelingSetting: 1 }), exportedProject(labelling)),
    kept(
      'an unknown enum name is as if it were not there',
      project({ privateLabelingSetting: 'PRIVATE_LABELING_SETTING_BOGUS' }),
      exportedProject({ privateLabelingSetting: undefined }),
    ),
    kept('a 64-bit integer is taken as a number', () => ({ passwordComplexityPolicy: { minLength: 9 } }), minLength),
    kept('a 64-bit integer is taken as a string', () => ({ passwordComplexityPolicy: { minLength: '9' } }), minLength),
    kept(
      'null is as if the field were not there',
      () => ({ orgState: null, humanUsers: null, ...nulls(id('nulls')) }),
      {
        humanUsers: undefined,
        ...exportedProject({ projectRoleAssertion: undefined }),
      },
    ),
    ...refused(
      'null in a list of objects is refused',
      '"humanUsers":[null]',
      /^orgs\[0\].humanUsers\[0\]: unexpected null/,
      /^proto: syntax error \(line 1:\d+\): unexpected token null$/,
    ),
    ...refused(
      'null in a list of strings is refused',
      '"orgMembers":[{"userId":"1","roles":[null]}]',
      /^orgs\[0\].orgMembers\[0\]: /,
      /^proto: \(line 1:\d+\): invalid value for string field roles: null$/,
    ),
    kept(
      'default values are left out',
      project({ projectRoleAssertion: false, hasProjectCheck: true }),
      exportedProject({ projectRoleAssertion: undefined, hasProjectCheck: true }),
    ),
    kept('bytes are taken in standard base64', metadata('+/8='), { userMetadata: [{ value: '+/8=' }] }),
    kept('bytes are taken in URL-safe base64', metadata('-_8='), { userMetadata: [{ value: '+/8=' }] }),
    kept('bytes are taken without padding', metadata('-_8'), { userMetadata: [{ value: '+/8=' }] }),
    kept('a duration is a string in seconds', app('0.5s'), { oidcApps: [{ app: { clockSkew: '0.500s' } }] }),
    kept('a duration of zero is there', app('0s'), { oidcApps: [{ app: { clockSkew: '0s' } }] }),
    ...['30s', '10m', '30m0s', '1.5m', '300000ms'].map((timeout) =>
      row(
        ORIGIN,
        `timeout ${timeout} is taken`,
        importing({ timeout, dataOrgs: { orgs: [] } }),
        equals({ success: {} }),
      ),
    ),
    ...unlike(
      ORIGIN,
      'what follows the first JSON value',
      'A body with something after its JSON is refused: ZITADEL drops what follows unseen.',
      importing('{"timeout":"1m","dataOrgs":{"orgs":[]}}{"timeout":1}'),
      { ours: error(400, 3, /data after the end/), zitadel: equals({ success: {} }) },
    ),
    row(
      ORIGIN,
      'any content type is taken as JSON',
      { ...importingOrgs(), headers: { 'content-type': 'text/xml' } },
      equals({ success: {} }),
    ),
  ];
}

const OWN_TEXT = 'Status and code are those of ZITADEL; the text is our own, which names the field.';
const LABELLING = 'PRIVATE_LABELING_SETTING_ENFORCE_PROJECT_RESOURCE_OWNER_POLICY';
const labelling = { privateLabelingSetting: LABELLING };
const minLength = { passwordComplexityPolicy: { minLength: '9' } };

function nulls(projectId: string) {
  return { projects: [{ projectId, project: { name: 'P', projectRoleAssertion: null } }] };
}

function spellings(id: (name: string) => string): Row[] {
  const [snake, camel] = [id('snake'), id('camel')];
  const inSnake = {
    org_id: snake,
    org: { name: snake },
    projects: [{ project_id: `p-${snake}`, project: { name: 'P', project_role_assertion: true } }],
    project_roles: [{ project_id: `p-${snake}`, role_key: 'r', display_name: 'R' }],
  };
  const inBoth = {
    orgId: camel,
    org: { name: camel },
    projects: [{ project_id: `p-${camel}`, project: { name: 'P', projectRoleAssertion: true } }],
    project_roles: [{ projectId: `p-${camel}`, role_key: 'r', displayName: 'R' }],
  };
  const success = (orgId: string) => ({ orgId, projectIds: [`p-${orgId}`], projectRoles: [`p-${orgId}_r`] });
  const exported = (orgId: string) => ({
    orgId,
    projects: [{ projectId: `p-${orgId}`, project: { name: 'P', projectRoleAssertion: true } }],
    projectRoles: [{ projectId: `p-${orgId}`, roleKey: 'r', displayName: 'R' }],
  });
  const taken = (orgId: string, body: object) => [
    { request: importing(body), expected: equals({ success: { orgs: [success(orgId)] } }) },
    {
      request: { ...exporting({}), body: JSON.stringify({ org_ids: [orgId], response_output: true }) },
      expected: includes({ orgs: [exported(orgId)] }),
      follows: true,
    },
  ];
  return [
    rowOf(ORIGIN, 'names in snake_case are taken', taken(snake, { timeout: '1m', data_orgs: { orgs: [inSnake] } })),
    rowOf(ORIGIN, 'both ways to spell names are mixed', taken(camel, { timeout: '1m', dataOrgs: { orgs: [inBoth] } })),
  ];
}
