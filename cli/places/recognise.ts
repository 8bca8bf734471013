import { z } from 'zod';
import { placeNotOurs } from '../../shared/errors/placeErrors.ts';
import { callInstance } from './httpCall.ts';
import { readText } from './readText.ts';

/** What answers at the address of an instance. */
export type Recognised =
  | { readonly kind: 'ours'; readonly version: string; readonly serverTime: Date | undefined }
  | { readonly kind: 'unknown'; readonly reason: string };

const PATH = '/openapi.json';
const MAX_BYTES = 4_000_000;
const ours = z.object({
  info: z.object({ title: z.literal('Identity'), version: z.string() }),
  paths: z.record(z.string(), z.unknown()),
});

/**
 * Finds out what answers at an address. Sends no token.
 * @throws IdentityError when nothing answers; the signal's reason
 */
export async function recognise(origin: string, signal: AbortSignal): Promise<Recognised> {
  using response = await callInstance(origin, { method: 'GET', path: PATH }, signal);
  const { status, headers } = response;
  if (status >= 300 && status < 400)
    return { kind: 'unknown', reason: `it redirects to ${redirectOrigin(origin, headers.location)}` };
  if (status !== 200) return { kind: 'unknown', reason: `${PATH} is answered with ${status}` };
  const document = parseDocument(await readText(response.body, MAX_BYTES));
  const hasOperations = document?.paths['/admin/v1/export'] ?? document?.paths['/admin/v1/import'];
  if (document === undefined || hasOperations === undefined)
    return { kind: 'unknown', reason: `${PATH} describes another service` };
  const date = new Date(headers.date ?? '');
  const serverTime = Number.isNaN(date.getTime()) ? undefined : date;
  return { kind: 'ours', version: document.info.version, serverTime };
}

/** @throws IdentityError unless an instance of this service answers */
export async function requireOurs(origin: string, signal: AbortSignal): Promise<void> {
  const found = await recognise(origin, signal);
  if (found.kind !== 'ours') throw placeNotOurs(origin, found.reason);
}

function parseDocument(text: string): z.infer<typeof ours> | undefined {
  try {
    return ours.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}

function redirectOrigin(origin: string, location: string | undefined): string {
  return URL.parse(location ?? '', origin)?.origin ?? 'another address';
}
