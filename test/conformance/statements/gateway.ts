import type { Row } from '../row.ts';
import { equals, error, exporting, importing, row } from './statement.ts';

const ORIGIN = 'zitadel 6.6';
const empty = { timeout: '1m', dataOrgs: { orgs: [] } };
const json = { 'content-type': 'application/json', 'cache-control': 'no-store', 'x-robots-tag': 'none' };

/** Paths, methods and headers (zitadel 6.6). */
export function gatewayRows(): Row[] {
  const unknown = (path: string) => row(ORIGIN, `POST ${path} is no route`, { method: 'POST', path }, notFound);
  const wrong = (method: string, path: string) =>
    row(ORIGIN, `${method} ${path} without a token`, { method, path }, notAllowed);
  return [
    ...['/admin/v1', '/admin/v1/exports', '/ADMIN/v1/export', '/v2/users', '/v2/users/1/otp_sms'].map(unknown),
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
    row(ORIGIN, 'headers of an error', { method: 'POST', path: '/nothing' }, { ...notFound, headers: json }),
    row(
      'zitadel 5.10',
      'x-zitadel-orgid that names no organisation',
      { ...importing(empty), headers: { 'x-zitadel-orgid': 'nope' } },
      equals({ success: {} }),
      'The header x-zitadel-orgid is ignored: organisations are named in the request.',
    ),
    row(
      ORIGIN,
      'X-HTTP-Method-Override on JSON is no override',
      { ...importing(empty), headers: { 'content-type': 'application/json', 'x-http-method-override': 'GET' } },
      equals({ success: {} }),
    ),
  ];
}

const notFound = error(404, 5, /^Not Found$/);
const notAllowed = error(405, 12, /^Method Not Allowed$/);
