import type { Expected, Row } from '../row.ts';
import type { Subjects } from '../subjects.ts';
import { equals, error, exporting, importing, row, unlike } from './statement.ts';

const ORIGIN = 'zitadel 6.6';
const empty = { timeout: '1m', dataOrgs: { orgs: [] } };
const json = { 'content-type': 'application/json', 'cache-control': 'no-store', 'x-robots-tag': 'none' };

/** Paths, methods and headers (zitadel 6.6). */
export function gatewayRows({ id }: Subjects): Row[] {
  const post = (path: string) => ({ method: 'POST', path });
  const unknown = (path: string) => row(ORIGIN, `POST ${path} is no route`, post(path), notFound);
  const zitadelHas = (path: string, zitadel: Expected) =>
    unlike(ORIGIN, `POST ${path} is no route`, FEWER, post(path), { ours: notFound, zitadel });
  const wrong = (method: string, path: string) =>
    row(ORIGIN, `${method} ${path} without a token`, { method, path }, notAllowed);
  return [
    ...['/admin/v1/exports', '/ADMIN/v1/export'].map(unknown),
    // The gateway cuts the prefix off, and what remains must start with a slash.
    ...zitadelHas('/admin/v1', error(400, 3, /^Bad Request$/)),
    ...zitadelHas('/v2/users', error(401, 16, /^auth header missing$/)),
    ...zitadelHas('/v2/users/1/otp_sms', error(401, 16, /^auth header missing$/)),
    wrong('GET', '/admin/v1/import'),
    wrong('DELETE', '/admin/v1/export'),
    wrong('PUT', '/v2/users/1/otp_email'),
    row(
      ORIGIN,
      'the query is ignored',
      { ...importing(empty), path: '/admin/v1/import?dry_run=true' },
      equals({ success: {} }),
    ),
    row(ORIGIN, 'headers of an import', importing(empty), { ...equals({ success: {} }), headers: json }),
    row(ORIGIN, 'headers of an export', exporting({ orgIds: ['none'] }), { ...equals({}), headers: json }),
    ...unlike(ORIGIN, 'headers of an error', 'No response is to be cached, errors included.', post('/nothing'), {
      ours: { ...notFound, headers: json },
      zitadel: { ...notFound, headers: { 'content-type': 'application/json', 'x-robots-tag': 'none' } },
    }),
    ...unlike(
      'zitadel 5.10',
      'x-zitadel-orgid that names no organisation',
      'The header x-zitadel-orgid is ignored: organisations are named in the request.',
      { ...importing(empty), headers: { 'x-zitadel-orgid': id('nope') } },
      { ours: equals({ success: {} }), zitadel: error(403, 7, /^Organisation doesn't exist \(AUTH-Bs7Ds\)$/) },
    ),
    row(
      ORIGIN,
      'X-HTTP-Method-Override on JSON is no override',
      { ...importing(empty), headers: { 'content-type': 'application/json', 'x-http-method-override': 'GET' } },
      equals({ success: {} }),
    ),
  ];
}

const FEWER = 'The interface has fewer requests than ZITADEL: a path that it does not have is no route.';
const notFound = error(404, 5, /^Not Found$/);
const notAllowed = error(405, 12, /^Method Not Allowed$/);
