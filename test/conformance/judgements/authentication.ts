import { type Judgements, refuses, same } from './judgement.ts';

const operationDenied = /^No matching permissions found \(AUTH-5mWD2\)$/;
const userDenied = /^No matching permissions found \(AUTH-AWfge\)$/;
const not404 =
  'Specification 4.1 wants 403 for a caller without permission; ZITADEL answers 404 to one without any membership.';

/** Who may call: tokens, and what callers without the role are told. */
export const authentication: Judgements = {
  'export: no Authorization': same,
  'import: no Authorization': same,
  'delete otp: no Authorization': same,
  'export: Bearer notreal': same,
  'export: lower-case bearer': same,
  'export: Basic scheme': same,
  'export: empty Authorization': same,
  'export: "Bearer " without token': same,
  'export: token with last char changed': same,
  'export: token very long (5000)': same,
  'delete otp: Bearer notreal': same,
  'export: no membership': refuses(not404, 403, 7, operationDenied),
  'import: no membership': refuses(not404, 403, 7, operationDenied),
  'export: ORG_OWNER': same,
  'import: ORG_OWNER': same,
  'import: IAM_OWNER_VIEWER': same,
  'export: IAM_OWNER_VIEWER (allowed?)': refuses(
    'Specification 5.2 wants the role IAM Owner for an export, since it hands out credentials.',
    403,
    7,
    operationDenied,
  ),
  'delete otp of other user: no membership': refuses(not404, 403, 7, userDenied),
  'delete otp of user in another org: ORG_OWNER of default org': refuses(not404, 403, 7, userDenied),
  'delete otp: IAM_OWNER_VIEWER (no user.write)': same,
  'delete otp self without otp (no membership PAT)': same,
  'delete otp unknown user: no membership': refuses(
    'Specification 4.1 wants 403 for a caller without permission, whether the user exists or not.',
    403,
    7,
    userDenied,
  ),
  'x-zitadel-orgid unknown': refuses(
    'The header x-zitadel-orgid is ignored, so what is wrong with the request is that it names no output.',
    400,
    3,
    /response_output/,
  ),
};
