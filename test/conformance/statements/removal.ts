import type { Row, RowRequest } from '../row.ts';
import { callers, type Subjects } from '../subjects.ts';
import { error, exporting, human, importingOrgs, includes, organisation, removing, row, rowOf } from './statement.ts';

const date = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/;
const removed = (resourceOwner: string) =>
  includes({ details: { sequence: /^[1-9]\d*$/, changeDate: date, creationDate: date, resourceOwner } });
const notSet = error(404, 5, /^Multifactor OTP \(OneTimePassword\) doesn't exist \(COMMAND-b312D\)$/);
const unknownUser = error(404, 5, /^Errors.NotFound \(COMMAND-4g3xq\)$/);
const wrongLength = error(
  400,
  3,
  /^invalid RemoveOTPEmailRequest.UserId: value length must be between 1 and 200 runes, inclusive$/,
);
const forbidden = error(403, 7, /^No matching permissions found \(AUTH-AWfge\)$/);
const hidden = 'Specification 4.1 wants 403 for a caller without permission, whether the user exists or not.';

/** `DELETE /v2/users/{userId}/otp_email` (specification 4.1, zitadel 6.1 to zitadel 6.4). */
export function removalRows(subjects: Subjects): Row[] {
  const { home, other, kept, unicode, id } = subjects;
  const unknown = id('unknown');
  return [
    effect(id('removal')),
    rowOf('zitadel 6.2', 'a person removes the own factor, without any role', [
      { request: removing(callers.person, 'person'), expected: removed(home) },
      { request: removing(callers.person, 'person'), expected: notSet },
    ]),
    row('zitadel 6.3', 'a person without the factor asks for the own', removing(callers.viewer, 'viewer'), notSet),
    row('zitadel 6.2', 'ORG_OWNER asks for a user nobody knows', removing(unknown, 'orgOwner'), forbidden, hidden),
    row('zitadel 6.2', 'no user.write, unknown user', removing(unknown, 'viewer'), forbidden, hidden),
    row('zitadel 6.2', 'a person asks for another’s', removing(kept, 'person'), forbidden),
    row('zitadel 6.1', 'ids are free text, with slashes and any script', removing(unicode), removed(other)),
    row('zitadel 6.1', '200 characters of four bytes are an id', removing('\u{1F511}'.repeat(200)), unknownUser),
    row('zitadel 6.1', '201 of them are none', removing('\u{1F511}'.repeat(201)), wrongLength),
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

/** The factor goes; the address, its state and all else stay. */
function effect(orgId: string): Row {
  const person = { ...human(`person-${orgId}`), otpEmail: true };
  const { userId, user } = person;
  return rowOf('specification 4.1', 'the factor goes, and the address with its state stays', [
    {
      request: importingOrgs(organisation(orgId, { humanUsers: [person] })),
      expected: includes({ errors: undefined }),
    },
    { request: removing(userId), expected: removed(orgId) },
    { request: removing(userId), expected: notSet },
    {
      request: exporting({ orgIds: [orgId], withOtp: true }),
      expected: includes({ orgs: [{ humanUsers: [{ userId, otpEmail: undefined, user }] }] }),
    },
  ]);
}

function withPath(request: RowRequest, change: (path: string) => string): RowRequest {
  return { ...request, path: change(request.path) };
}
