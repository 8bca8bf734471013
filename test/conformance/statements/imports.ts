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
  projectOf,
  row,
  rowOf,
} from './statement.ts';

/** What an import takes, and what it answers (zitadel 5). */
export function importRows({ id }: Subjects): Row[] {
  return [...sources(id), ...again(id), ...orders(id), ...faulty(id), large(id('large'))];
}

type MakeId = (name: string) => string;

const ids = (orgId: string, more: object = {}) => equals({ success: { orgs: [{ orgId, ...more }] } });
const failing = (error_: object, ...orgs: readonly object[]) =>
  equals({ errors: [error_], success: orgs.length === 0 ? {} : { orgs } });

function sources(id: MakeId): Row[] {
  const [inV1, asText, both] = [id('v1'), id('text'), id('both')];
  const document = { orgs: [{ ...organisation(inV1), iamPolicy: { orgId: inV1, userLoginMustBeDomain: true } }] };
  const file = (orgId: string) => ({ orgs: [organisation(orgId, { humanUsers: [human(`person-${orgId}`)] })] });
  return [
    rowOf('zitadel 5.9', 'the v1 form has iamPolicy for the domain policy', [
      { request: importing({ timeout: '1m', data_orgsv1: document }), expected: ids(inV1) },
      {
        request: exporting({ orgIds: [inV1] }),
        expected: includes({ orgs: [{ domainPolicy: { userLoginMustBeDomain: true }, iamPolicy: undefined }] }),
      },
    ]),
    row(
      'specification 2.5',
      'the file as a string',
      importing({ timeout: '1m', data_orgsv1: JSON.stringify(file(asText)) }),
      ids(asText, { humanUserIds: [`person-${asText}`] }),
      'Specification 2.5 has data_orgsv1 as a string; ZITADEL wants an object, which is taken as well.',
    ),
    row(
      'specification 4.3',
      'two sources',
      importing({ timeout: '1m', data_orgs: file(both), data_orgsv1: file(both) }),
      error(400, 3, /exactly one of/),
    ),
    row(
      'zitadel 5.2',
      'no timeout',
      importing({ data_orgs: { orgs: [] } }),
      equals({ success: {} }),
      'A missing timeout means the longest that the deployment allows; ZITADEL has no default and answers 500.',
    ),
    row('zitadel 5.2', 'a timeout that is a number', importing('{"timeout":30,"data_orgs":{"orgs":[]}}'), badTimeout),
  ];
}

const badTimeout = error(400, 3, /^timeout: /);

function again(id: MakeId): Row[] {
  const [equal, added, changed] = [id('equal'), id('added'), id('changed')];
  const person = (orgId: string, more: object = {}) => human(`person-${orgId}`, more);
  const full = organisation(equal, { humanUsers: [person(equal)], projects: [projectOf(`project-${equal}`)] });
  const exists = { type: 'human_user', id: `person-${changed}`, message: USER_EXISTS };
  return [
    rowOf(
      'zitadel 5.5',
      'what is there already with equal content is no error',
      [
        {
          request: importingOrgs(full),
          expected: ids(equal, { humanUserIds: [`person-${equal}`], projectIds: [`project-${equal}`] }),
        },
        { request: importingOrgs(full), expected: ids(equal) },
      ],
      'A request can be sent again: ZITADEL answers an error for each object that is there.',
    ),
    rowOf('zitadel 5.5', 'an organisation that exists may come without its name', [
      { request: importingOrgs(organisation(added)), expected: ids(added) },
      {
        request: importingOrgs({ orgId: added, humanUsers: [person(added)] }),
        expected: ids(added, { humanUserIds: [`person-${added}`] }),
      },
    ]),
    rowOf('zitadel 5.7', 'a person who is there with other content is left alone, and reported', [
      {
        request: importingOrgs(organisation(changed, { humanUsers: [person(changed)] })),
        expected: ids(changed, { humanUserIds: [`person-${changed}`] }),
      },
      {
        request: importingOrgs({ orgId: changed, humanUsers: [person(changed, { userName: 'another' })] }),
        expected: failing(exists, { orgId: changed }),
      },
      {
        request: exporting({ orgIds: [changed] }),
        expected: includes({ orgs: [{ humanUsers: [{ user: { userName: `person-${changed}` } }] }] }),
      },
    ]),
  ];
}

const USER_EXISTS = 'ID=COMMAND-ziuna Message=Errors.User.AlreadyExisting';

function orders(id: MakeId): Row[] {
  const [twice, granted, granting, nameless] = [id('twice'), id('granted'), id('granting'), id('given')];
  const [userId, projectId, grantId] = [`person-${granted}`, `project-${granting}`, `grant-${granting}`];
  const withPerson = (name: string) => organisation(twice, { humanUsers: [human(`${name}-${twice}`)] });
  const grant = { grantId, projectGrant: { projectId, grantedOrgId: granted } };
  const onGrant = { userId, projectId, projectGrantId: grantId };
  return [
    row(
      'zitadel 5.5',
      'an organisation that stands twice in a request',
      importingOrgs(withPerson('one'), withPerson('two')),
      equals({ success: { orgs: [{ orgId: twice, humanUserIds: [`one-${twice}`, `two-${twice}`] }] } }),
      'Entries of one organisation are one: ZITADEL lists it twice, and reports the second with ORG-lapo2n.',
    ),
    row(
      'zitadel 5.4',
      'a user grant that hangs on the project grant of a later organisation',
      importingOrgs(
        organisation(granted, { humanUsers: [human(userId)], userGrants: [onGrant] }),
        organisation(granting, { projects: [projectOf(projectId)], projectGrants: [grant] }),
      ),
      equals({
        success: {
          orgs: [
            { orgId: granted, humanUserIds: [userId], userGrants: [{ projectId, userId }] },
            { orgId: granting, projectIds: [projectId], projectGrants: [{ grantId, projectId, orgId: granted }] },
          ],
        },
      }),
      'The order of the organisations does not matter: ZITADEL loses this grant with COMMAND-4m9ff.',
    ),
    row(
      'zitadel 5.5',
      'a person without an id is given one',
      importingOrgs(organisation(nameless, { humanUsers: [{ ...human(`person-${nameless}`), userId: '' }] })),
      includes({ errors: undefined, success: { orgs: [{ orgId: nameless, humanUserIds: [/./] }] } }),
      'The answer tells the id that was given, where ZITADEL has an empty string.',
    ),
  ];
}

function faulty(id: MakeId): Row[] {
  const report = (name: string, content: (orgId: string) => object, fault: (orgId: string) => object) => {
    const orgId = id(name);
    return row(
      'zitadel 5.7',
      name,
      importingOrgs(organisation(orgId, content(orgId))),
      failing(fault(orgId), { orgId }),
    );
  };
  const [taken, nameless] = [id('taken'), id('nameless')];
  return [
    rowOf('zitadel 5.5', 'a name that another organisation has', [
      { request: importingOrgs(organisation(taken)), expected: ids(taken) },
      {
        request: importingOrgs({ orgId: `${taken}-too`, org: { name: taken } }),
        expected: failing({ type: 'org', id: `${taken}-too`, message: 'ID=V3-DKcYh Message=Errors.Org.AlreadyExists' }),
      },
    ]),
    row(
      'zitadel 5.5',
      'an organisation that is new and has no name',
      importingOrgs({ orgId: nameless, projects: [projectOf(`project-${nameless}`)] }),
      failing({ type: 'org', id: nameless, message: 'ID=COMM-deLSk Message=Errors.Org.Invalid' }),
    ),
    row(
      'zitadel 5.5',
      'an organisation without an id',
      importingOrgs({ org: { name: id('no-id') } }),
      failing({ type: 'org', message: 'ID=ORG-4Mlfs Message=Errors.Invalid.Argument' }),
    ),
    row(
      'zitadel 5.5',
      'an organisation without anything',
      importingOrgs({}),
      failing({ type: 'org', message: 'ID=COMM-deLSk Message=Errors.Org.Invalid' }),
    ),
    report(
      'metadata of a user that is not there',
      () => ({ userMetadata: [{ id: 'nobody', key: 'k', value: 'dg==' }] }),
      () => ({ type: 'user_metadata', id: 'nobody_k', message: 'ID=COMMAND-uXHNj Message=Errors.User.NotFound' }),
    ),
    report(
      'a member who is not there',
      () => ({ orgMembers: [{ userId: 'nobody', roles: ['ORG_OWNER'] }] }),
      (orgId) => ({ type: 'org_member', id: `${orgId}_nobody`, message: 'ID=ORG-GoXOn Message=Errors.User.NotFound' }),
    ),
    report(
      'a password that is too weak',
      (orgId) => ({ humanUsers: [human(`person-${orgId}`, { password: 'Short1!' })] }),
      (orgId) => ({
        type: 'human_user',
        id: `person-${orgId}`,
        message: 'ID=DOMAIN-HuJf6 Message=Errors.User.PasswordComplexityPolicy.MinLength',
      }),
    ),
  ];
}

/** More than ZITADEL's 4 MiB, also as protobuf. */
function large(orgId: string): Row {
  const userId = `person-${orgId}`;
  const value = Buffer.alloc(480_000, orgId).toString('base64');
  const userMetadata = Array.from({ length: 10 }, (_, i) => ({ id: userId, key: `key-${i}`, value }));
  const entries = userMetadata.map(({ key }) => ({ userId, key }));
  return row(
    'zitadel 5.3',
    'a body above 4 MiB',
    importingOrgs(organisation(orgId, { humanUsers: [human(userId)], userMetadata })),
    ids(orgId, { humanUserIds: [userId], userMetadata: entries }),
    'ZITADEL takes at most 4 MiB of protobuf, and answers 429 above.',
  );
}
