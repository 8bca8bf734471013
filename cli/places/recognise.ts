import { z } from 'zod';
import { parseIfJson } from '../../shared/json/parseIfJson.ts';
import { callServer, readText } from '../httpClient.ts';
import { recogniseZitadel } from '../zitadel/instance.ts';
import { serverTime } from './place.ts';

/** What answers at the address of an instance. */
export type Recognised =
  | { readonly kind: 'ours'; readonly version: string; readonly time: Date | undefined }
  | { readonly kind: 'zitadel'; readonly time: Date | undefined }
  | { readonly kind: 'unknown'; readonly reason: string };

const PATH = '/openapi.json';
const MAX_BYTES = 4_000_000;
const ours = z.object({
  info: z.object({ title: z.literal('Identity'), version: z.string() }),
  paths: z.record(z.string(), z.unknown()),
});

/** A ZITADEL that restarts answers 503, for less than this. */
const retries = { attempts: () => 6, initialDelayMs: 500, maxDelayMs: 2_000 };

/**
 * Finds out what answers at an address. Sends no token.
 * @throws IdentityError when nothing answers; the signal's reason
 */
export async function recognise(origin: string, signal: AbortSignal): Promise<Recognised> {
  const found = await recogniseOurs(origin, signal);
  if (found.kind !== 'unknown' || found.redirects === true) return found;
  const zitadel = await recogniseZitadel({ baseUrl: origin, token: undefined, tokenOption: '', signal, retries });
  return zitadel === undefined ? found : { kind: 'zitadel', time: zitadel.time };
}

async function recogniseOurs(
  origin: string,
  signal: AbortSignal,
): Promise<Exclude<Recognised, { kind: 'zitadel' }> & { readonly redirects?: true }> {
  using response = await callServer(origin, { method: 'GET', path: PATH }, signal);
  const { status, headers } = response;
  if (status >= 300 && status < 400)
    return { kind: 'unknown', reason: `it redirects to ${redirectOrigin(origin, headers.location)}`, redirects: true };
  if (status !== 200) return { kind: 'unknown', reason: `${PATH} is answered with ${status}` };
  const document = parseDocument(await readText(response.body, MAX_BYTES));
  const hasOperations = document?.paths['/admin/v1/export'] ?? document?.paths['/admin/v1/import'];
  if (document === undefined || hasOperations === undefined)
    return { kind: 'unknown', reason: `${PATH} describes another service` };
  return { kind: 'ours', version: document.info.version, time: serverTime(headers.date) };
}

function parseDocument(text: string): z.infer<typeof ours> | undefined {
  return ours.safeParse(parseIfJson(text)).data;
}

function redirectOrigin(origin: string, location: string | undefined): string {
  return URL.parse(location ?? '', origin)?.origin ?? 'another address';
}
