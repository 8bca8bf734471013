import type { Answer } from '../answer.ts';

const ADMIN = { 'cache-control': 'no-store', pragma: 'no-cache' };
const JSON_HEADERS = { 'content-type': 'application/json', 'x-robots-tag': 'none', vary: 'Origin' };

/** A JSON response with ZITADEL's headers. */
export function reply(status: number, body: unknown, headers: Record<string, string> = {}): Answer {
  return { status, headers: { ...JSON_HEADERS, ...headers }, text: JSON.stringify(body) };
}

/** A response of the admin service. */
export const adminReply = (body: unknown): Answer => reply(200, body, ADMIN);

/** An error with a text alone. */
export function fault(status: number, code: number, message: string): Answer {
  return reply(status, { code, message }, status === 401 ? { ...ADMIN, 'www-authenticate': message } : {});
}

/** An error with an id. */
function idFault(status: number, code: number, words: string, id: string): Answer {
  const message = `${words} (${id})`;
  const details = [{ '@type': 'type.googleapis.com/zitadel.v1.ErrorDetail', id, message: words }];
  return reply(status, { code, message, details }, status === 401 ? { 'www-authenticate': message } : {});
}

/** The answers that several requests share, as recorded. */
export const faults = {
  notFound: fault(404, 5, 'Not Found'),
  notAllowed: fault(405, 12, 'Method Not Allowed'),
  noHeader: fault(401, 16, 'auth header missing'),
  badHeader: idFault(401, 16, 'invalid auth header', 'AUTH-toLo1'),
  badToken: idFault(401, 16, 'Errors.Token.Invalid', 'AUTH-7fs1e'),
  noMembership: idFault(404, 5, 'membership not found', 'AUTHZ-cdgFk'),
  noOrganisation: idFault(403, 7, "Organisation doesn't exist", 'AUTH-Bs7Ds'),
  denied: idFault(403, 7, 'No matching permissions found', 'AUTH-5mWD2'),
  userDenied: idFault(403, 7, 'No matching permissions found', 'AUTH-AWfge'),
  unknownUser: idFault(404, 5, 'Errors.NotFound', 'COMMAND-4g3xq'),
  noFactor: idFault(404, 5, "Multifactor OTP (OneTimePassword) doesn't exist", 'COMMAND-b312D'),
  hasFactor: idFault(409, 6, 'Multifactor OTP (OneTimePassword) is already set up', 'COMMAND-MKL2s'),
  notReady: idFault(400, 9, "Multifactor OTP (OneTimePassword) isn't ready", 'COMMAND-KLJ2d'),
  longId: fault(
    400,
    3,
    'invalid RemoveOTPEmailRequest.UserId: value length must be between 1 and 200 runes, inclusive',
  ),
  unprintable: fault(500, 13, 'header key "zitadel-activity-path" contains value with non-printable ASCII characters'),
} as const;
