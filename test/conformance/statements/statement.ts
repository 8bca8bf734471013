import type { Expected, Role, Row, RowRequest, Step } from '../row.ts';

/** A row of one step. */
export function row(origin: string, name: string, request: RowRequest, expected: Expected, decision?: string): Row {
  return rowOf(origin, name, [{ request, expected }], decision);
}

/** A row of several steps. */
export function rowOf(origin: string, name: string, steps: readonly Step[], decision?: string): Row {
  return { name, origin, steps, ...(decision === undefined ? {} : { decision }) };
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
