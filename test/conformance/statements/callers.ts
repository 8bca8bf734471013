import type { Role, Row, RowRequest } from '../row.ts';
import type { Subjects } from '../subjects.ts';
import { error, exporting, importing, removing, row, unlike } from './statement.ts';

const tokenInvalid = /^Errors.Token.Invalid \(AUTH-7fs1e\)$/;
const headerInvalid = /^invalid auth header \(AUTH-toLo1\)$/;
const operationDenied = /^No matching permissions found \(AUTH-5mWD2\)$/;
const userDenied = /^No matching permissions found \(AUTH-AWfge\)$/;

/** Who may call what (zitadel 6.5): the three operations, each by callers that it refuses. */
export function callerRows({ kept }: Subjects): Row[] {
  const operations: [name: string, (role: Role) => RowRequest, denied: RegExp][] = [
    ['export', (role) => exporting({ orgIds: ['none'] }, role), operationDenied],
    ['import', (role) => importing({ timeout: '1m', dataOrgs: { orgs: [] } }, role), operationDenied],
    ['delete otp', (role) => removing(kept, role), userDenied],
  ];
  return operations.flatMap(([name, request, denied]) => refusals(name, request, denied));
}

function refusals(operation: string, request: (role: Role) => RowRequest, denied: RegExp): Row[] {
  const { role: _role, ...anonymous } = request('owner');
  const withHeader = (name: string, authorization: (token: string) => string, message: RegExp) =>
    row('zitadel 6.5', `${operation}: ${name}`, { ...anonymous, authorization }, error(401, 16, message));
  const withRole = (name: string, role: Role) =>
    row('zitadel 6.5', `${operation}: ${name}`, request(role), error(401, 16, tokenInvalid));
  return [
    withHeader('lower-case scheme', (token) => `bearer ${token}`, headerInvalid),
    withHeader('Basic', () => 'Basic dXNlcjpwYXNz', headerInvalid),
    withHeader('the token alone', (token) => token, headerInvalid),
    withHeader('unknown token', () => 'Bearer notreal', tokenInvalid),
    withHeader('token cut short', (token) => `Bearer ${token.slice(0, -1)}`, tokenInvalid),
    withHeader('token in capitals', (token) => `Bearer ${token.toUpperCase()}`, tokenInvalid),
    withRole('token of a deactivated user', 'inactive'),
    withRole('expired token', 'expired'),
    ...unlike('zitadel 6.5', `${operation}: no role`, HIDDEN, request('nobody'), {
      ours: error(403, 7, denied),
      zitadel: error(404, 5, /^membership not found \(AUTHZ-cdgFk\)$/),
    }),
    ...withoutToken(`${operation}: no token, bad body`, { ...anonymous, body: '{' }),
  ];
}

const HIDDEN =
  'Specification 4.1 wants 403 for a caller without permission; ZITADEL answers 404 to one without a membership.';

/** A removal reads no body. */
function withoutToken(name: string, request: RowRequest): Row[] {
  const missing = error(401, 16, /^auth header missing$/);
  if (request.method === 'DELETE') return [row('specification 7.1', name, request, missing)];
  const first = 'The token is looked at before the body, so that a caller without one learns nothing from it.';
  return unlike('specification 7.1', name, first, request, {
    ours: missing,
    zitadel: error(400, 3, /^unexpected EOF$/),
  });
}
