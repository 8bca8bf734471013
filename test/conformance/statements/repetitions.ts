import type { Row } from '../row.ts';
import type { Subjects } from '../subjects.ts';
import {
  equals,
  exporting,
  failing,
  human,
  ids,
  importingOrgs,
  includes,
  organisation,
  projectOf,
  unlike,
  unlikeThen,
} from './statement.ts';

/** What an import says of records that are there, or come twice or in another order (zitadel 5.4, zitadel 5.5). */
export function repetitionRows({ id }: Subjects): Row[] {
  return [
    ...sentTwice(id('equal')),
    ...withoutName(id('added')),
    ...changedPerson(id('changed')),
    ...givenTwice(id('twice')),
    ...laterGrant(id('granted'), id('granting')),
    ...withoutId(id('given')),
  ];
}

const EXISTS = 'ID=ORG-lapo2n Message=Errors.Org.AlreadyExisting';
const orgExists = (orgId: string) => ({ type: 'org', id: orgId, message: EXISTS });
const userExists = (userId: string) => ({ type: 'human_user', id: userId, message: USER_EXISTS });
const AGAIN = 'A request can be sent again: ZITADEL answers an error for each object that is there.';

function sentTwice(orgId: string): Row[] {
  const [userId, projectId] = [`person-${orgId}`, `project-${orgId}`];
  const full = organisation(orgId, { humanUsers: [human(userId)], projects: [projectOf(projectId)] });
  const first = {
    request: importingOrgs(full),
    expected: ids(orgId, { humanUserIds: [userId], projectIds: [projectId] }),
  };
  const project = {
    type: 'project',
    id: projectId,
    message: 'ID=COMMAND-opamwu Message=Errors.Project.AlreadyExisting',
  };
  const name = 'what is there already with equal content is no error';
  return unlikeThen('zitadel 5.5', name, AGAIN, first, importingOrgs(full), {
    ours: ids(orgId),
    zitadel: failing([orgExists(orgId), userExists(userId), project], { orgId }),
  });
}

function withoutName(orgId: string): Row[] {
  const userId = `person-${orgId}`;
  const first = { request: importingOrgs(organisation(orgId)), expected: ids(orgId) };
  const name = 'an organisation that exists may come without its name';
  return unlikeThen('zitadel 5.5', name, AGAIN, first, importingOrgs({ orgId, humanUsers: [human(userId)] }), {
    ours: ids(orgId, { humanUserIds: [userId] }),
    zitadel: failing([orgExists(orgId)], { orgId, humanUserIds: [userId] }),
  });
}

function changedPerson(orgId: string): Row[] {
  const userId = `person-${orgId}`;
  const first = {
    request: importingOrgs(organisation(orgId, { humanUsers: [human(userId)] })),
    expected: ids(orgId, { humanUserIds: [userId] }),
  };
  const name = 'a person who is there with other content is left alone, and reported';
  const other = importingOrgs({ orgId, humanUsers: [human(userId, { userName: 'another' })] });
  return unlikeThen('zitadel 5.7', name, AGAIN, first, other, {
    ours: failing([userExists(userId)], { orgId }),
    zitadel: failing([orgExists(orgId), userExists(userId)], { orgId }),
    after: [
      {
        request: exporting({ orgIds: [orgId] }),
        expected: includes({ orgs: [{ humanUsers: [{ user: { userName: userId } }] }] }),
        follows: true,
      },
    ],
  });
}

const USER_EXISTS = 'ID=COMMAND-ziuna Message=Errors.User.AlreadyExisting';

function givenTwice(orgId: string): Row[] {
  const withPerson = (name: string) => organisation(orgId, { humanUsers: [human(`${name}-${orgId}`)] });
  const created = (...names: readonly string[]) => ({ orgId, humanUserIds: names.map((name) => `${name}-${orgId}`) });
  return unlike(
    'zitadel 5.5',
    'an organisation that stands twice in a request',
    'Entries of one organisation are one: ZITADEL lists it twice, and reports the second with ORG-lapo2n.',
    importingOrgs(withPerson('one'), withPerson('two')),
    {
      ours: equals({ success: { orgs: [created('one', 'two')] } }),
      zitadel: equals({ errors: [orgExists(orgId)], success: { orgs: [created('one'), created('two')] } }),
    },
  );
}

function laterGrant(granted: string, granting: string): Row[] {
  const [userId, projectId, grantId] = [`person-${granted}`, `project-${granting}`, `grant-${granting}`];
  const grant = { grantId, projectGrant: { projectId, grantedOrgId: granted } };
  const onGrant = { userId, projectId, projectGrantId: grantId };
  const created = { orgId: granting, projectIds: [projectId], projectGrants: [{ grantId, projectId, orgId: granted }] };
  const receiving = { orgId: granted, humanUserIds: [userId] };
  const message = 'ID=COMMAND-4m9ff Message=Errors.Project.Grant.NotFound';
  return unlike(
    'zitadel 5.4',
    'a user grant that hangs on the project grant of a later organisation',
    'The order of the organisations does not matter: ZITADEL loses this grant with COMMAND-4m9ff.',
    importingOrgs(
      organisation(granted, { humanUsers: [human(userId)], userGrants: [onGrant] }),
      organisation(granting, { projects: [projectOf(projectId)], projectGrants: [grant] }),
    ),
    {
      ours: equals({ success: { orgs: [{ ...receiving, userGrants: [{ projectId, userId }] }, created] } }),
      zitadel: equals({
        errors: [{ type: 'user_grant', id: `${granted}_${projectId}_${userId}`, message }],
        success: { orgs: [receiving, created] },
      }),
    },
  );
}

function withoutId(orgId: string): Row[] {
  const given = (userId: string | RegExp) =>
    includes({ errors: undefined, success: { orgs: [{ orgId, humanUserIds: [userId] }] } });
  return unlike(
    'zitadel 5.5',
    'a person without an id is given one',
    'The answer tells the id that was given, where ZITADEL has an empty string.',
    importingOrgs(organisation(orgId, { humanUsers: [{ ...human(`person-${orgId}`), userId: '' }] })),
    { ours: given(/./), zitadel: given('') },
  );
}
