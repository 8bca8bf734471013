import type { Row, RowRequest, Step } from '../row.ts';
import type { Subjects } from '../subjects.ts';
import {
  error,
  exporting,
  human,
  importingOrgs,
  includes,
  organisation,
  ours,
  removing,
  row,
  unlike,
  zitadels,
} from './statement.ts';

const date = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/;
const changed = (resourceOwner: string) => ({ sequence: /^[1-9]\d*$/, changeDate: date, resourceOwner });
const removed = (owner: string) => includes({ details: { ...changed(owner), creationDate: date } });
const notSet = error(404, 5, /^Multifactor OTP \(OneTimePassword\) doesn't exist \(COMMAND-b312D\)$/);
const unknownUser = error(404, 5, /^Errors.NotFound \(COMMAND-4g3xq\)$/);
const wrongLength = error(
  400,
  3,
  /^invalid RemoveOTPEmailRequest.UserId: value length must be between 1 and 200 runes, inclusive$/,
);
const forbidden = error(403, 7, /^No matching permissions found \(AUTH-AWfge\)$/);
const HIDDEN = 'Specification 4.1 wants 403 for a caller without permission, whether the user exists or not.';
const FREE_TEXT = 'User ids are free text, and any of them can be reached; ZITADEL takes no path with such characters.';
const PEOPLE = 'A person can have a token of their own; ZITADEL gives them to service users alone.';
const unprintable = error(500, 13, /^header key "zitadel-activity-path" contains value with non-printable ASCII/);

/** `DELETE /v2/users/{userId}/otp_email` (specification 4.1, zitadel 6.1 to zitadel 6.4). */
export function removalRows(subjects: Subjects): Row[] {
  const { home, other, kept, unicode, id } = subjects;
  const unknown = id('unknown');
  const keys = (count: number) => removing('\u{1F511}'.repeat(count));
  const notKnown = { ours: forbidden, zitadel: unknownUser };
  return [
    effect(id('removal')),
    zitadelEffect(id('removal')),
    ours('zitadel 6.2', 'a person removes the own factor, without any role', PEOPLE, [
      { request: removing(subjects.callers.person, 'person'), expected: removed(home) },
      { request: removing(subjects.callers.person, 'person'), expected: notSet },
    ]),
    ours('zitadel 6.2', 'a person asks for another’s', PEOPLE, [
      { request: removing(kept, 'person'), expected: forbidden },
    ]),
    row(
      'zitadel 6.3',
      'a user without the factor asks for the own',
      removing(subjects.callers.viewer, 'viewer'),
      notSet,
    ),
    row('zitadel 6.2', 'no user.write asks for another’s', removing(kept, 'viewer'), forbidden),
    ...unlike('zitadel 6.2', 'ORG_OWNER asks for a user nobody knows', HIDDEN, removing(unknown, 'orgOwner'), notKnown),
    ...unlike('zitadel 6.2', 'no user.write, unknown user', HIDDEN, removing(unknown, 'viewer'), notKnown),
    ...unlike('zitadel 6.1', 'ids are free text, with slashes and any script', FREE_TEXT, removing(unicode), {
      ours: removed(other),
      zitadel: error(404, 5, /^Not Found$/),
    }),
    ...unlike('zitadel 6.1', '200 characters of four bytes are an id', FREE_TEXT, keys(200), {
      ours: unknownUser,
      zitadel: unprintable,
    }),
    ...unlike('zitadel 6.1', '201 of them are none', FREE_TEXT, keys(201), { ours: wrongLength, zitadel: unprintable }),
    row('zitadel 6.1', 'no body is read', { ...removing(unknown), body: '{"userId":1}' }, unknownUser),
    row(
      'zitadel 6.1',
      'the query is ignored',
      withPath(removing(unknown), (path) => `${path}?userId=1`),
      unknownUser,
    ),
    row(
      'zitadel 6.6',
      'v2beta, unknown user',
      withPath(removing(unknown), (p) => p.replace('/v2/', '/v2beta/')),
      unknownUser,
    ),
  ];
}

const HASH = '$2a$10$xYu3FRwaIJ4OzeqczeLBDeSXX620POcGBmt8lfKM4RlSWsYIj.wCi';
const EFFECT = 'the factor goes, and the address with its state stays';

/** The factor goes; the address, its state and all else stay. */
function effect(orgId: string): Row {
  const person = { ...human(`person-${orgId}`), otpEmail: true };
  const why = 'An import gives the factor, and the response tells when the user was created (specification 2.2).';
  return ours('specification 4.1', EFFECT, why, [
    {
      request: importingOrgs(organisation(orgId, { humanUsers: [person] })),
      expected: includes({ errors: undefined, success: { orgs: [{ orgId }] } }),
    },
    { request: removing(person.userId), expected: removed(orgId) },
    ...gone(person, orgId),
  ]);
}

/**
 * An import into a ZITADEL gives no factor, so a request adds it. A person without a password would have no verified
 * address there, and no factor could be added.
 */
function zitadelEffect(orgId: string): Row {
  const person = human(`person-${orgId}`);
  const imported = human(person.userId, { hashedPassword: { value: HASH } });
  const done = includes({ details: { ...changed(orgId), creationDate: undefined } });
  return zitadels('specification 4.1', EFFECT, [
    {
      request: importingOrgs(organisation(orgId, { humanUsers: [imported] })),
      expected: includes({ errors: undefined, success: { orgs: [{ orgId }] } }),
    },
    { request: { ...removing(person.userId), method: 'POST', body: '{}' }, expected: done },
    { request: removing(person.userId), expected: done },
    ...gone(person, orgId),
  ]);
}

function gone({ userId, user }: ReturnType<typeof human>, orgId: string): Step[] {
  return [
    { request: removing(userId), expected: notSet },
    {
      request: exporting({ orgIds: [orgId], withOtp: true }),
      expected: includes({ orgs: [{ humanUsers: [{ userId, otpEmail: undefined, user }] }] }),
      follows: true,
    },
  ];
}

function withPath(request: RowRequest, change: (path: string) => string): RowRequest {
  return { ...request, path: change(request.path) };
}
