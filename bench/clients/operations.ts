import { Buffer } from 'node:buffer';
import { type SampleContent, sampleFile } from '../tasks/sampleFile.ts';
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
