import { Agent as HttpAgent, type IncomingMessage, request as requestHttp } from 'node:http';
import { Agent as HttpsAgent, request as requestHttps } from 'node:https';
import { text as readText } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { isJsonObject, type JsonObject } from './jsonObject.ts';
import { expandRepetitions, Placeholders } from './placeholders.ts';
import type { Observation, RecordedCase, RecordedRequest } from './recordedCase.ts';

/** A server under test. */
export interface Server {
  readonly url: URL;
  /** Tokens of the callers. */
  readonly tokens: Tokens;
  /** The delay until the server's reads show its writes. */
  readonly lagMs: number;
}

/** The tokens of the callers; the cases of a caller without a token are not run. */
export type Tokens = { readonly owner: string } & { readonly [Role in Caller]?: string | undefined };

/** A caller other than the IAM_OWNER. */
type Caller = NonNullable<RecordedRequest['as']>;

/** The most characters of an id in a request for an export. */
export const MAX_ID_LENGTH = 200;
/** The time of ZITADEL's export grows with its organisations times its projects times its grants. */
const ORGANISATIONS_PER_EXPORT = 10;

/** A server's response to a case, and the values of the case's placeholders. */
export interface Answered {
  readonly seen: Observation;
  readonly placeholders: Placeholders;
}

/** Sends a case's requests. */
export async function observe(server: Server, { before, request }: RecordedCase): Promise<Answered> {
  const placeholders = new Placeholders(server.url);
  for (const earlier of before) await send(server, earlier, placeholders);
  if (before.length > 0) await sleep(server.lagMs);
  const { status, headers, body } = await send(server, request, placeholders);
  const content = contentOf(placeholders.unfill(body), status, request.path);
  return { seen: { status, headers: Object.fromEntries(Object.entries(headers)), ...content }, placeholders };
}

const exportFile = z.object({ orgs: z.array(z.looseObject({ orgId: z.string() })).default([]) });

/** Organisations of an instance by their ids. */
export type Exported = ReadonlyMap<string, JsonObject>;

/**
 * Exports the organisations of many cases at once: an export for each case would take much longer. Those of one case are in
 * one export, because ZITADEL omits grants to organisations outside of the export.
 */
export async function exportAll(server: Server, cases: readonly (readonly string[])[]): Promise<Exported> {
  await sleep(server.lagMs);
  const batches: string[][] = [];
  for (const orgIds of cases) {
    const valid = orgIds.filter((orgId) => orgId.length <= MAX_ID_LENGTH);
    const last = batches.at(-1);
    if (last !== undefined && last.length + valid.length <= ORGANISATIONS_PER_EXPORT) last.push(...valid);
    else batches.push(valid);
  }
  const exported = new Map<string, JsonObject>();
  for (const batch of batches) await exportBatch(server, batch, exported);
  return exported;
}

/** Exports organisations together. If that fails, exports each half separately. */
async function exportBatch(
  server: Server,
  orgIds: readonly string[],
  exported: Map<string, JsonObject>,
): Promise<void> {
  if (orgIds.length === 0) return;
  const body = { orgIds, withPasswords: true, withOtp: true, responseOutput: true, timeout: '60s' };
  const request = { method: 'POST', path: '/admin/v1/export', headers: {}, body };
  const answer = await send(server, request, new Placeholders(server.url));
  const half = Math.floor(orgIds.length / 2);
  if (answer.status === 200) for (const org of exportFile.parse(answer.body).orgs) exported.set(org.orgId, org);
  else if (half > 0)
    for (const part of [orgIds.slice(0, half), orgIds.slice(half)]) await exportBatch(server, part, exported);
}

function contentOf(body: unknown, status: number, path: string): Omit<Observation, 'status'> {
  if (!isJsonObject(body)) return { body };
  if (path === '/admin/v1/import' && status === 200) {
    return { errors: Array.isArray(body.errors) ? body.errors : [], success: body.success };
  }
  const { manifest, ...rest } = body;
  return { body: manifest === undefined ? body : rest };
}

/** Sends a request as it was recorded: it follows no redirect, and does not change the path. */
export async function send(server: Server, recorded: RecordedRequest, placeholders: Placeholders) {
  const { url, tokens } = server;
  const content = contentToSend(recorded, placeholders);
  const token = tokens[recorded.as ?? 'owner'];
  const headers: Record<string, string | string[]> = { host: url.host, authorization: `Bearer ${token}` };
  if (recorded.method === 'POST' || recorded.method === 'PUT') headers['content-type'] = 'application/json';
  if (content !== undefined) headers['content-length'] = String(content.length);
  for (const [name, value] of Object.entries(recorded.headers)) {
    const withToken = (text: string) => String(placeholders.fill(text.replace('{{token}}', tokens.owner)));
    if (value === null) delete headers[name.toLowerCase()];
    else headers[name.toLowerCase()] = Array.isArray(value) ? value.map(withToken) : withToken(value);
  }
  const isHttps = url.protocol === 'https:';
  const open = isHttps ? requestHttps : requestHttp;
  const path = `${url.pathname.replace(/\/$/, '')}${String(placeholders.fill(recorded.path))}`;
  // Each request has a connection of its own, because a server may close one after an early response. The request does
  // not ask for that: the server would reset the connection while the body is still being sent.
  using agents = new DisposableStack();
  const agent = agents.adopt(
    isHttps ? new HttpsAgent({ keepAlive: true }) : new HttpAgent({ keepAlive: true }),
    (used) => used.destroy(),
  );
  const outgoing = open({ hostname: url.hostname, port: url.port, method: recorded.method, path, headers, agent });
  // The listener for errors stays: the connection may end before the server has read the body.
  const responded = new Promise<IncomingMessage>((resolve, reject) => {
    outgoing.on('response', resolve).on('error', reject);
  });
  outgoing.end(content);
  const incoming = await responded;
  const body = parsed(await readText(incoming));
  return { status: incoming.statusCode ?? 0, headers: incoming.headers, body };
}

function contentToSend({ body, rawBody, base64Body }: RecordedRequest, placeholders: Placeholders) {
  if (rawBody !== undefined) return Buffer.from(String(placeholders.fill(expandRepetitions(rawBody))));
  if (base64Body !== undefined) {
    const bytes = Buffer.from(base64Body, 'base64').toString('latin1');
    return Buffer.from(String(placeholders.fill(bytes)), 'latin1');
  }
  return body === undefined ? undefined : Buffer.from(JSON.stringify(placeholders.fill(expandRepetitions(body))));
}

/** Parses a body, and replaces the sequence numbers, which differ from call to call. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text, (name, value) => (name === 'sequence' && /^[1-9]\d*$/.test(value) ? '{{number}}' : value));
  } catch {
    return text;
  }
}
