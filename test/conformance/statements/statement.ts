import type { Expected, Role, Row, RowRequest, Step } from '../row.ts';

/** A documented row of one step. */
export function row(origin: string, name: string, request: RowRequest, expected: Expected): Row {
  return rowOf(origin, name, [{ request, expected }]);
}

/** A documented row of several steps. */
export function rowOf(origin: string, name: string, steps: readonly Step[]): Row {
  return { name, origin, feature: 'documented', steps };
}

/** The responses to one request, by who gives them. */
export interface Unlike {
  readonly ours: Expected;
  readonly zitadel: Expected;
}

/** Two rows about one request that ZITADEL answers otherwise; `why` says in a sentence what decides ours. */
export function unlike(origin: string, name: string, why: string, request: RowRequest, expected: Unlike): Row[] {
  return [
    ours(origin, name, why, [{ request, expected: expected.ours }]),
    zitadels(origin, name, [{ request, expected: expected.zitadel }]),
  ];
}

/** Two rows that begin with the same steps, and then send a request that ZITADEL answers otherwise. */
export function unlikeThen(
  origin: string,
  name: string,
  why: string,
  first: Step,
  request: Step['request'],
  then: Then,
): Row[] {
  const { after = [] } = then;
  return [
    ours(origin, name, why, [first, { request, expected: then.ours }, ...after]),
    zitadels(origin, name, [first, { request, expected: then.zitadel }, ...after]),
  ];
}

/** The responses to the last request, and what both see afterwards. */
export interface Then extends Unlike {
  readonly after?: readonly Step[];
}

/** A row that holds for this service alone; `decision` says in a sentence why. */
export function ours(origin: string, name: string, decision: string, steps: readonly Step[]): Row {
  return { name, origin, feature: 'ours', steps, decision };
}

/** A row that holds for ZITADEL alone. */
export function zitadels(origin: string, name: string, steps: readonly Step[]): Row {
  return { name, origin, feature: 'zitadel', steps };
}

/** `POST /admin/v1/import` as IAM_OWNER; a string is sent as it is. */
export function importing(body: object | string, role: Role = 'owner'): RowRequest {
  return {
    method: 'POST',
    path: '/admin/v1/import',
    role,
    body: typeof body === 'string' ? body : JSON.stringify(body),
  };
}

/** An import of organisations in the v2 form. */
export function importingOrgs(...orgs: readonly object[]): RowRequest {
  return importing({ timeout: '1m', dataOrgs: { orgs } });
}

/** `POST /admin/v1/export` as IAM_OWNER. */
export function exporting(body: object, role: Role = 'owner'): RowRequest {
  return { method: 'POST', path: '/admin/v1/export', role, body: JSON.stringify({ responseOutput: true, ...body }) };
}

/** `DELETE /v2/users/{userId}/otp_email`. */
export function removing(userId: string, role: Role = 'owner'): RowRequest {
  return { method: 'DELETE', path: `/v2/users/${encodeURIComponent(userId)}/otp_email`, role };
}

/** 200 with this JSON, besides what is added to ZITADEL's. */
export const equals = (json: unknown): Expected => ({ status: 200, body: { kind: 'equals', json } });

/** 200 with at least this JSON. */
export const includes = (json: unknown): Expected => ({ status: 200, body: { kind: 'includes', json } });

/** The response to an import of one organisation without any error. */
export const ids = (orgId: string, more: object = {}): Expected => equals({ success: { orgs: [{ orgId, ...more }] } });

/** The response to an import with errors. */
export const failing = (errors: readonly object[], ...orgs: readonly object[]): Expected =>
  equals({ errors, success: orgs.length === 0 ? {} : { orgs } });

/** An error of the interface. */
export function error(status: number, code: number, message: RegExp): Expected {
  return { status, body: { kind: 'error', code, message } };
}

/** An organisation of its own. */
export function organisation(orgId: string, content: object = {}) {
  return { orgId, org: { name: orgId }, ...content };
}

/** A project as in an export file. */
export function projectOf(projectId: string, more: object = {}) {
  return { projectId, project: { name: projectId, ...more } };
}

/** A person as in an export file. */
export function human(userId: string, more: object = {}) {
  const profile = { firstName: 'Con', lastName: 'Formance', displayName: 'Con Formance', preferredLanguage: 'en' };
  const user = { userName: userId, profile, email: { email: 'person@example.com', isEmailVerified: true } };
  return { userId, user: { ...user, ...more } };
}

/** What ZITADEL adds to the message of a value that the database holds already; some releases leave it out. */
export function duplicate(message: string): RegExp {
  return new RegExp(
    `^${message.replaceAll('.', '\\.')}( Parent=\\(ERROR: duplicate key value .* \\(SQLSTATE 23505\\)\\))?$`,
  );
}
