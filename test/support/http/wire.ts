import { expect } from 'vitest';
import { z } from 'zod';
import type { Instance } from '../instances/deployments.ts';

/** A response, read completely. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** The parts of a request. Without `token`, it has no Authorization header. */
export interface WireRequest {
  readonly method: string;
  readonly path: string;
  readonly token?: string;
  readonly body?: string | Uint8Array<ArrayBuffer>;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The manual steps after an import of a file. */
export const leftToDo = z.array(
  z.strictObject({
    type: z.string(),
    id: z.string().optional(),
    reason: z.string(),
    params: z.record(z.string(), z.string()).optional(),
    message: z.string(),
  }),
);

const record = z.record(z.string(), z.unknown());
const manifest = z.strictObject({
  version: z.literal(1),
  instance: z.string(),
  readTime: z.iso.datetime(),
  instanceId: z.string().optional(),
  counts: z.record(z.string(), z.number()),
  digest: z.string().regex(/^sha256:[0-9a-f]{64}$/),
  defaultOrgId: z.string(),
  exportedBy: z.strictObject({ userId: z.string(), orgId: z.string() }),
  secrets: z.strictObject({ passwords: z.boolean(), otp: z.boolean(), keys: z.boolean() }),
  sections: z.array(z.string()),
  ignored: z.array(z.strictObject({ field: z.string(), nearest: z.string().optional() })),
  leftToDo,
  leftToDoOmitted: z.number().optional(),
});
const exportFile = z.strictObject({ orgs: z.array(z.looseObject({ orgId: z.string() })), manifest });
const importAnswer = z.strictObject({
  errors: z
    .array(
      z.strictObject({
        type: z.string(),
        id: z.string().optional(),
        message: z.string(),
        reason: z.string(),
        params: z.record(z.string(), z.string()).optional(),
      }),
    )
    .optional(),
  success: z.strictObject({ orgs: z.array(z.looseObject({ orgId: z.string() })).optional() }),
  summary: z.looseObject({
    created: z.record(z.string(), z.number()),
    unchanged: z.record(z.string(), z.number()),
    failed: z.record(z.string(), z.number()),
    notCarried: z.record(z.string(), z.number()),
    proved: z.boolean(),
  }),
});
const errorBody = z.strictObject({
  code: z.int(),
  message: z.string().min(1),
  details: z.array(z.looseObject({ '@type': z.string() })).optional(),
});

/** The fields of an export file that tests read. */
export type ExportFile = z.infer<typeof exportFile>;

/** Sends a request to an instance, by default with the token of its owner. */
export async function send({ url }: Pick<Instance, 'url'>, request: WireRequest): Promise<Answer> {
  const { method, path, token, body, headers } = request;
  const authorization = token === undefined ? undefined : { authorization: `Bearer ${token}` };
  const init = { method, headers: { ...authorization, ...headers }, ...(body === undefined ? {} : { body }) };
  const response = await fetch(`${url}${path}`, init);
  return { status: response.status, headers: response.headers, text: await response.text() };
}

/** Sends a JSON body to `/admin/v1/<operation>` as the instance's owner. */
export function post(instance: Instance, operation: 'export' | 'import', body: unknown): Promise<Answer> {
  const headers = { 'content-type': 'application/json' };
  const path = `/admin/v1/${operation}`;
  return send(instance, { method: 'POST', path, token: instance.token, body: JSON.stringify(body), headers });
}

/** The media type of a body that contains only an export file. */
export const EXPORT_FILE = 'application/vnd.identity.export+json';

/** Imports a file as the instance's owner. The file is the body, and the query contains the options. */
export function postFile(
  instance: Instance,
  query: string,
  body: string | Uint8Array<ArrayBuffer>,
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  const request = { method: 'POST', path: `/admin/v1/import${query}`, token: instance.token, body };
  return send(instance, { ...request, headers: { 'content-type': EXPORT_FILE, ...headers } });
}

/** Imports a file like `postFile`, and expects a report. */
export async function importFile(...call: Parameters<typeof postFile>): Promise<z.infer<typeof importAnswer>> {
  return importAnswer.parse(parseOk(await postFile(...call)));
}

/** Exports to the response; by default everything, with credentials. */
export async function exportFrom(instance: Instance, selection: object = {}): Promise<ExportFile> {
  const all = { with_passwords: true, with_otp: true, response_output: true };
  const answer = await post(instance, 'export', { ...all, ...selection });
  return exportFile.parse(parseOk(answer));
}

/** Imports a request, and expects a report. */
export async function importInto(instance: Instance, body: unknown): Promise<z.infer<typeof importAnswer>> {
  return importAnswer.parse(parseOk(await post(instance, 'import', body)));
}

/** Calls `DELETE /v2/users/{userId}/otp_email`. */
export function removeOtpEmail(instance: Instance, userId: string, token = instance.token): Promise<Answer> {
  const path = `/v2/users/${encodeURIComponent(userId)}/otp_email`;
  return send(instance, { method: 'DELETE', path, token, headers: { accept: 'application/json' } });
}

/** Returns the parsed body of a response with 200. */
export function parseOk(answer: Answer): Record<string, unknown> {
  expect(answer, answer.text).toMatchObject({ status: 200 });
  expect(answer.headers.get('content-type')).toBe('application/json');
  return record.parse(JSON.parse(answer.text));
}

/** Expects an error in the interface's form (specification 2.3) without further content. Returns its body. */
export function expectError(answer: Answer, status: number, code: number): z.infer<typeof errorBody> {
  expect(answer, answer.text).toMatchObject({ status });
  expect(answer.headers.get('content-type')).toBe('application/json');
  const body = errorBody.parse(JSON.parse(answer.text));
  expect(body.code).toBe(code);
  return body;
}
