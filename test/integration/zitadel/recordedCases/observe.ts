import { once } from 'node:events';
import { Agent, type IncomingMessage, request as sendRequest } from 'node:http';
import { text as readText } from 'node:stream/consumers';
import { z } from 'zod';
import { isJsonObject, type JsonObject } from '../../../../shared/json/jsonObject.ts';
import { expandRepetitions, Placeholders } from './placeholders.ts';
import type { Observation, RecordedCase, RecordedRequest } from './recordedCase.ts';

/** A server under test, and a token of its owner. */
export interface Server {
  readonly port: number;
  readonly token: string;
}

const agent = new Agent({ keepAlive: true });
const WATCHED_HEADERS = ['content-type', 'www-authenticate', 'location', 'allow'];

/** What a server answered to a case, and the names of the case's own ids. */
export interface Answered {
  readonly seen: Observation;
  readonly placeholders: Placeholders;
}

/** Sends a case's requests. */
export async function observe(server: Server, { before, request, group }: RecordedCase): Promise<Answered> {
  const placeholders = new Placeholders(server.port);
  for (const earlier of before) await send(server, earlier, placeholders);
  const answer = await send(server, request, placeholders);
  const body = placeholders.unfill(answer.body);
  const seen: Observation = { status: answer.status, ...contentOf(body, answer.status, request.path) };
  if (group === 'http') seen.headers = watchedHeaders(answer.headers, placeholders);
  return { seen, placeholders };
}

const exportFile = z.object({ orgs: z.array(z.looseObject({ orgId: z.string() })) });

/** The organisations that an instance exports, by their ids. */
export type Exported = ReadonlyMap<string, object>;

/** Exports the whole instance: one export of all cases' organisations is much faster than one for each case. */
export async function exportAll(server: Server): Promise<Exported> {
  const body = { withPasswords: true, withOtp: true, responseOutput: true, timeout: '60s' };
  const request = { method: 'POST', path: '/admin/v1/export', headers: {}, body };
  const answer = await send(server, request, new Placeholders(server.port));
  const { orgs } = exportFile.parse(answer.body);
  return new Map(orgs.map((org) => [org.orgId, org]));
}

/** What an export holds of a case's organisations; undefined for a case that was recorded without an export. */
export function exportedBy({ export: orgIds }: RecordedCase, { placeholders }: Answered, exported: Exported): unknown {
  const ids = orgIds?.map((orgId) => String(placeholders.fill(orgId)));
  return ids === undefined ? undefined : placeholders.unfill(ids.flatMap((id) => exported.get(id) ?? []));
}

function contentOf(body: unknown, status: number, path: string): Omit<Observation, 'status'> {
  if (!isJsonObject(body)) return { body };
  if (path === '/admin/v1/import' && status === 200) {
    return { errors: Array.isArray(body.errors) ? body.errors : [], success: body.success };
  }
  const { manifest, ...rest } = body;
  return { body: manifest === undefined ? body : rest };
}

async function send({ port, token }: Server, recorded: RecordedRequest, placeholders: Placeholders) {
  const content = contentToSend(recorded, placeholders);
  const headers: Record<string, string | string[]> = { host: `localhost:${port}`, authorization: `Bearer ${token}` };
  if (recorded.method === 'POST' || recorded.method === 'PUT') headers['content-type'] = 'application/json';
  if (content !== undefined) headers['content-length'] = String(content.length);
  for (const [name, value] of Object.entries(recorded.headers)) {
    const withToken = (text: string) => String(placeholders.fill(text.replace('{{token}}', token)));
    if (value === null) delete headers[name.toLowerCase()];
    else headers[name.toLowerCase()] = Array.isArray(value) ? value.map(withToken) : withToken(value);
  }
  const path = String(placeholders.fill(recorded.path));
  const outgoing = sendRequest({ host: '127.0.0.1', port, method: recorded.method, path, headers, agent });
  outgoing.end(content);
  const [incoming]: [IncomingMessage] = (await once(outgoing, 'response')) as [IncomingMessage];
  const text = await readText(incoming);
  return { status: incoming.statusCode ?? 0, headers: incoming.headers, body: parsed(text) };
}

function contentToSend({ body, rawBody, base64Body }: RecordedRequest, placeholders: Placeholders) {
  if (rawBody !== undefined) return Buffer.from(String(placeholders.fill(rawBody)));
  if (base64Body !== undefined) return Buffer.from(base64Body, 'base64');
  return body === undefined ? undefined : Buffer.from(JSON.stringify(placeholders.fill(expandRepetitions(body))));
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function watchedHeaders(headers: IncomingMessage['headers'], placeholders: Placeholders): JsonObject {
  const watched = WATCHED_HEADERS.filter((name) => headers[name] !== undefined);
  return Object.fromEntries(watched.map((name) => [name, placeholders.unfill(headers[name])]));
}
