import { once } from 'node:events';
import { Agent, type IncomingMessage, request as sendRequest } from 'node:http';
import { text as readText } from 'node:stream/consumers';
import { isJsonObject, type JsonObject } from '../../../shared/json/jsonObject.ts';
import { expandRepetitions, Placeholders } from './placeholders.ts';
import type { Observation, RecordedCase, RecordedRequest } from './recordedCase.ts';

/** A server under test, and a token of its owner. */
export interface Server {
  readonly port: number;
  readonly token: string;
}

const agent = new Agent({ keepAlive: true });
const WATCHED_HEADERS = ['content-type', 'www-authenticate', 'location', 'allow'];

/** Sends a case's requests, and exports its organisations. */
export async function observe(server: Server, { before, request, group, export: orgIds }: RecordedCase) {
  const placeholders = new Placeholders(server.port);
  for (const earlier of before) await send(server, earlier, placeholders);
  const answer = await send(server, request, placeholders);
  const body = placeholders.unfill(answer.body);
  const seen: Observation = { status: answer.status, ...contentOf(body, answer.status, request.path) };
  if (group === 'http') seen.headers = watchedHeaders(answer.headers, placeholders);
  if (orgIds !== undefined) seen.exported = await exportOf(server, orgIds, placeholders);
  return seen;
}

function contentOf(body: unknown, status: number, path: string): Omit<Observation, 'status'> {
  if (!isJsonObject(body)) return { body };
  if (path === '/admin/v1/import' && status === 200) {
    return { errors: Array.isArray(body.errors) ? body.errors : [], success: body.success };
  }
  const { manifest, ...rest } = body;
  return { body: manifest === undefined ? body : rest };
}

async function exportOf(server: Server, orgIds: readonly string[], placeholders: Placeholders): Promise<unknown> {
  const body = { orgIds, withPasswords: true, withOtp: true, responseOutput: true, timeout: '60s' };
  const request = { method: 'POST', path: '/admin/v1/export', headers: {}, body };
  const answer = await send(server, request, placeholders);
  const file = placeholders.unfill(answer.body);
  return isJsonObject(file) && answer.status === 200 ? file.orgs : { status: answer.status, body: file };
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
