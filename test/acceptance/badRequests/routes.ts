import type { BadRequest } from './badRequest.ts';

const unknown = (path: string, method = 'GET'): BadRequest => ({
  name: `${method} ${path.slice(0, 60)}, which is no route`,
  method,
  path,
  status: 404,
  code: 5,
  message: /^Not Found$/,
});
const wrongMethod = (path: string, method: string): BadRequest => ({
  name: `${method} ${path}`,
  method,
  path,
  status: 405,
  code: 12,
  message: /^Method Not Allowed$/,
});
const badUserId = (name: string, userId: string, message: RegExp): BadRequest => ({
  name,
  method: 'DELETE',
  path: `/v2/users/${userId}/otp_email`,
  status: 400,
  code: 3,
  message,
});
const noUser = (name: string, userId: string): BadRequest => ({
  ...badUserId(name, userId, /^Errors.NotFound \(COMMAND-4g3xq\)$/),
  status: 404,
  code: 5,
});

/** Paths, methods and user ids that are not served. */
export const badRoutes: readonly BadRequest[] = [
  unknown('/admin'),
  unknown('/favicon.ico'),
  unknown('/admin/v1'),
  unknown('/admin/v1/exports', 'POST'),
  unknown('/admin/v1/export/', 'POST'),
  unknown('/ADMIN/v1/export', 'POST'),
  unknown('//admin/v1/export', 'POST'),
  unknown('/admin/v1/export%2F', 'POST'),
  unknown('/v2/users', 'DELETE'),
  unknown('/v2/users//otp_email', 'DELETE'),
  unknown('/v2/users/1/otp_sms', 'DELETE'),
  unknown(`/${'x'.repeat(10_000)}`),
  wrongMethod('/admin/v1/export', 'GET'),
  wrongMethod('/admin/v1/export', 'PUT'),
  wrongMethod('/admin/v1/import', 'DELETE'),
  wrongMethod('/v2/users/1/otp_email', 'GET'),
  wrongMethod('/v2/users/1/otp_email', 'POST'),
  badUserId('a user id of 201 characters', 'x'.repeat(201), /length must be between 1 and 200 runes/),
  badUserId('a user id that is not UTF-8', '%ff', /percent-encode it as UTF-8/),
  badUserId('a user id with a broken escape', '%zz', /percent-encode it as UTF-8/),
  noUser('a user id of 200 characters that nobody has', 'x'.repeat(200)),
  noUser('a user id with slashes', '..%2f..%2fadmin%2fv1'),
  noUser('a user id with a NUL', '1%00'),
  noUser('a user id with quotes', "1'%20OR%20'1'='1"),
  noUser('a user id that Firestore keeps for itself', '__id__'),
];
