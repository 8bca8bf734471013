import { Buffer } from 'node:buffer';
import { type SampleContent, sampleFile, sampleId } from '../tasks/sample.ts';
import { type ClientOptions, quantile, sendAll } from './keepAliveClient.ts';
import type { Server } from './server.ts';

/** Returns the body of a request that imports sample users inline. */
export function inlineImport(content: SampleContent): Buffer<ArrayBuffer> {
  return Buffer.from(`{"timeout":"10m","data_orgs":${[...sampleFile(content)].join('')}}`);
}

/**
 * Imports what a body holds or names.
 * @returns the milliseconds that it took
 * @throws Error if the import has not created all of its users
 */
export async function importUsers(server: Server, body: Buffer<ArrayBuffer> | string, users: number): Promise<number> {
  const { text, milliseconds } = await post(server, 'import', body);
  if (text.includes('"errors"') || !text.includes(`"humanUsers":${users}`))
    throw new Error(`the import failed: ${text.slice(0, 500)}`);
  return milliseconds;
}

/** Exports with secrets where the request says. Returns the milliseconds that it took. */
export async function exportUsers(server: Server, request: Readonly<Record<string, unknown>>): Promise<number> {
  const content = { timeout: '10m', with_passwords: true, with_otp: true };
  const { milliseconds } = await post(server, 'export', JSON.stringify({ ...content, ...request }));
  return milliseconds;
}

async function post({ url, token }: Server, operation: string, body: Buffer<ArrayBuffer> | string) {
  const begin = performance.now();
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const response = await fetch(`${url}/admin/v1/${operation}`, { method: 'POST', headers, body });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`${operation} returned ${response.status}: ${text.slice(0, 500)}`);
  return { text, milliseconds: performance.now() - begin };
}

/** The times of removals in milliseconds. */
export interface RemovalTimes {
  readonly perSecond: number;
  readonly p50: number;
  readonly p99: number;
}

/** Returns requests that remove the OTP e-mail factor of each sample user from `first` on. */
export function* removalRequests({ token }: Server, first: number, count: number): Generator<string> {
  for (let number = first; number < first + count; number++) {
    const userId = encodeURIComponent(sampleId(number));
    yield `DELETE /v2/users/${userId}/otp_email HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer ${token}\r\n\r\n`;
  }
}

/**
 * Sends removals.
 * @throws Error if one of them fails
 */
export async function remove(
  server: Server,
  requests: Iterable<string>,
  options: ClientOptions,
): Promise<RemovalTimes> {
  const begin = performance.now();
  const answers = await sendAll(server.url, requests, options);
  const seconds = (performance.now() - begin) / 1_000;
  const failed = answers.find(({ status }) => status !== 200);
  if (failed !== undefined) throw new Error(`a removal returned ${failed.status}`);
  const times = answers.map(({ milliseconds }) => milliseconds);
  return { perSecond: answers.length / seconds, p50: quantile(times, 0.5), p99: quantile(times, 0.99) };
}
