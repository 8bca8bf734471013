import { METHODS } from 'node:http';
import { type HostileRequest, head } from './hostileRequest.ts';

const authorised =
  (line: string, ...headers: readonly string[]) =>
  (token: string) =>
    Buffer.from(head(line, `Authorization: Bearer ${token}`, ...headers), 'latin1');

const removal = (name: string, path: string, status: number, code: number): HostileRequest => ({
  name,
  bytes: authorised(`DELETE ${path} HTTP/1.1`),
  status,
  code,
});

/** Invalid or unknown paths. */
export const paths: readonly HostileRequest[] = [
  removal('a NUL in the path', '/v2/users/a\0b/otp_email', 400, 3),
  removal('a NUL in the path, escaped', '/v2/users/a%00b/otp_email', 404, 5),
  removal('bytes in the path that are no UTF-8', '/v2/users/\xff\xfe/otp_email', 400, 3),
  removal('escapes in the path that are no UTF-8', '/v2/users/%ff%fe/otp_email', 400, 3),
  removal('an overlong slash', '/v2/users/%c0%af/otp_email', 400, 3),
  removal('half an escape', '/v2/users/%2/otp_email', 400, 3),
  removal('a slash in the id, escaped', '/v2/users/a%2Fb/otp_email', 404, 5),
  removal('an id that is escaped twice', '/v2/users/%252e%252e/otp_email', 404, 5),
  removal('dots that lead to another route', '/v2/users/../../admin/v1/export', 400, 3),
  removal('dots that lead out of the root', '/../../../etc/passwd', 400, 3),
  removal('backslashes', '/v2\\users\\1\\otp_email', 400, 3),
  removal('no id', '/v2/users//otp_email', 404, 5),
  removal('an id of a space', '/v2/users/%20/otp_email', 404, 5),
  removal('an id of 200 characters', `/v2/users/${'x'.repeat(200)}/otp_email`, 404, 5),
  removal('an id of 201 characters', `/v2/users/${'x'.repeat(201)}/otp_email`, 400, 3),
  removal('an id of 201 characters of four bytes', `/v2/users/${'%F0%9F%98%80'.repeat(201)}/otp_email`, 400, 3),
  removal('two slashes at the start', '//v2/users/1/otp_email', 404, 5),
  removal('a slash at the end', '/v2/users/1/otp_email/', 404, 5),
  removal('parameters after a semicolon', '/v2/users/1/otp_email;v=2', 404, 5),
  removal('a query that is no query', '/v2/users/1/otp_email?%zz&&=&a[b]=c', 404, 5),
  removal('the whole URL of another host', 'http://elsewhere.example/nowhere', 404, 5),
  removal('a host and a port', 'a:80', 400, 3),
  removal('an asterisk', '*', 400, 3),
  removal('another scheme', 'file:///etc/passwd', 400, 3),
];

/** Callers without a valid token. */
export const callers: readonly HostileRequest[] = [
  { name: 'no token', bytes: head('DELETE /v2/users/1/otp_email HTTP/1.1'), status: 401, code: 16 },
  ...[
    '',
    'Bearer',
    'Bearer ',
    'bearer x',
    'Basic YTpi',
    'Bearer \xff',
    `Bearer ${'x'.repeat(10_000)}`,
    'Bearer a b',
  ].map(
    (value): HostileRequest => ({
      name: `the authorization ${JSON.stringify(value.slice(0, 20))}`,
      bytes: () => Buffer.from(head('DELETE /v2/users/1/otp_email HTTP/1.1', `Authorization: ${value}`), 'latin1'),
      status: 401,
      code: 16,
    }),
  ),
];

/** Every method that Node's parser knows and no route has; HEAD's response has no body, CONNECT's target is no path. */
export const methods: readonly HostileRequest[] = METHODS.filter(
  (method) => !['POST', 'HEAD', 'CONNECT'].includes(method),
)
  .map(
    (method): HostileRequest => ({
      name: `the method ${method}`,
      bytes: authorised(`${method} /admin/v1/export HTTP/1.1`),
      status: 405,
      code: 12,
    }),
  )
  .concat({ name: 'the method CONNECT', bytes: head('CONNECT a:1 HTTP/1.1'), status: 405, code: 12 });
