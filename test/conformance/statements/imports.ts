import type { Row } from '../row.ts';
import type { Subjects } from '../subjects.ts';
import {
  duplicate,
  equals,
  error,
  exporting,
  failing,
  human,
  ids,
  importing,
  importingOrgs,
  includes,
  organisation,
  projectOf,
  row,
  rowOf,
  unlike,
  unlikeThen,
} from './statement.ts';

/** What an import takes, and what it answers (zitadel 5). */
export function importRows({ id }: Subjects): Row[] {
  return [...sources(id), ...faulty(id), ...large(id('large'))];
}

type MakeId = (name: string) => string;

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
        follows: true,
      },
    ]),
    ...unlike(
      'specification 2.5',
      'the file as a string',
      'Specification 2.5 has data_orgsv1 as a string; ZITADEL wants an object, which is taken as well.',
      importing({ timeout: '1m', data_orgsv1: JSON.stringify(file(asText)) }),
      {
        ours: ids(asText, { humanUserIds: [`person-${asText}`] }),
        zitadel: error(400, 3, /^proto: syntax error \(line 1:\d+\): unexpected token "/),
      },
    ),
    ...unlike(
      'specification 4.3',
      'two sources',
      OWN_TEXT,
      importing({ timeout: '1m', data_orgs: file(both), data_orgsv1: file(both) }),
      {
        ours: error(400, 3, /exactly one of/),
        zitadel: error(400, 3, /^proto: \(line 1:\d+\): error parsing "data_orgsv1", oneof .* is already set$/),
      },
    ),
    ...unlike(
      'zitadel 5.2',
      'no timeout',
      'A missing timeout means the longest that the deployment allows; ZITADEL has no default and answers 500.',
      importing({ data_orgs: { orgs: [] } }),
      { ours: equals({ success: {} }), zitadel: error(500, 2, /^time: invalid duration ""$/) },
    ),
    ...unlike(
      'zitadel 5.2',
      'a timeout that is a number',
      OWN_TEXT,
      importing('{"timeout":30,"data_orgs":{"orgs":[]}}'),
      {
        ours: error(400, 3, /^timeout: /),
        zitadel: error(400, 3, /^proto: \(line 1:\d+\): invalid value for string field timeout: 30$/),
      },
    ),
  ];
}

const OWN_TEXT = 'Status and code are those of ZITADEL; the text is our own, which names the field.';
function faulty(id: MakeId): Row[] {
  const report = (name: string, content: (orgId: string) => object, fault: (orgId: string) => object) => {
    const orgId = id(name);
    return row(
      'zitadel 5.7',
      name,
      importingOrgs(organisation(orgId, content(orgId))),
      failing([fault(orgId)], { orgId }),
    );
  };
  const nameless = id('nameless');
  return [
    ...takenName(id('taken')),
    row(
      'zitadel 5.5',
      'an organisation that is new and has no name',
      importingOrgs({ orgId: nameless, projects: [projectOf(`project-${nameless}`)] }),
      failing([{ type: 'org', id: nameless, message: 'ID=COMM-deLSk Message=Errors.Org.Invalid' }]),
    ),
    row(
      'zitadel 5.5',
      'an organisation without an id',
      importingOrgs({ org: { name: id('no-id') } }),
      failing([{ type: 'org', message: 'ID=ORG-4Mlfs Message=Errors.Invalid.Argument' }]),
    ),
    row(
      'zitadel 5.5',
      'an organisation without anything',
      importingOrgs({}),
      failing([{ type: 'org', message: 'ID=COMM-deLSk Message=Errors.Org.Invalid' }]),
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

function takenName(orgId: string): Row[] {
  const first = { request: importingOrgs(organisation(orgId)), expected: ids(orgId) };
  const fault = { type: 'org', id: `${orgId}-too` };
  const message = 'ID=V3-DKcYh Message=Errors.Org.AlreadyExists';
  const request = importingOrgs({ orgId: fault.id, org: { name: orgId } });
  const name = 'a name that another organisation has';
  return unlikeThen('zitadel 5.5', name, NO_DATABASE, first, request, {
    ours: failing([{ ...fault, message }]),
    zitadel: includes({ errors: [{ ...fault, message: duplicate(message) }], success: { orgs: undefined } }),
  });
}

const NO_DATABASE = 'An error tells nothing of the database behind it, as ZITADEL’s does in its Parent.';

/** More than ZITADEL's 4 MiB, also as protobuf. */
function large(orgId: string): Row[] {
  const userId = `person-${orgId}`;
  const value = Buffer.alloc(480_000, orgId).toString('base64');
  const userMetadata = Array.from({ length: 10 }, (_, i) => ({ id: userId, key: `key-${i}`, value }));
  const entries = userMetadata.map(({ key }) => ({ userId, key }));
  return unlike(
    'zitadel 5.3',
    'a body above 4 MiB',
    'ZITADEL takes at most 4 MiB of protobuf, and answers 429 above.',
    importingOrgs(organisation(orgId, { humanUsers: [human(userId)], userMetadata })),
    {
      ours: ids(orgId, { humanUserIds: [userId], userMetadata: entries }),
      zitadel: error(429, 8, /^grpc: received message larger than max \(\d+ vs\. \d+\)$/),
    },
  );
}
