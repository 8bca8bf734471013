import { z } from 'zod';
import { placeNotKnown } from '../../shared/errors/placeErrors.ts';
import { parseIfJson } from '../../shared/json/jsonObject.ts';
import type { DatabasePlace, Recognised } from '../exports/placeInterfaces.ts';
import { callBriefly, callServer, type HttpCall, type HttpResponse, readText } from '../http/httpClient.ts';
import { plainToTls } from '../http/tls.ts';
import { type InstanceSettings, overNetwork } from '../places/calledServer.ts';
import { recogniseZitadel } from '../zitadel/zitadelInstance.ts';

const PATH = '/openapi.json';
const MAX_DESCRIPTION_BYTES = 4_000_000;
const bytes = z.int().positive().exactOptional();
const transfers = z.literal(true).exactOptional();
const statedLimits = z.object({ requestBytes: bytes, responseBytes: bytes, transfers });
const ours = z.object({
  info: z.object({ title: z.literal('Identity'), version: z.string() }),
  paths: z.record(z.string(), z.unknown()),
  'x-limits': statedLimits.default({}),
});

/** Retries take longer than a restart of ZITADEL, which returns 503 in that time. */
const retries = { attempts: () => 6, initialDelayMs: 500, maxDelayMs: 2_000 };

/**
 * Recognises the service at an address. Sends no token.
 * @throws IdentityError for an unreachable server or another service; the signal's reason
 */
async function recognise(origin: string, signal: AbortSignal): Promise<Recognised> {
  const server = { name: origin, send: (call: HttpCall, ends: AbortSignal) => callServer(origin, call, ends) };
  const read = (response: HttpResponse) => recogniseOurs(origin, response);
  const ask = () => callBriefly(server, { method: 'GET', path: PATH }, signal, read);
  const found = await ask();
  if (typeof found !== 'string') return found;
  const zitadel = await recogniseZitadel({ origin, signal, retries });
  if (typeof zitadel !== 'string') return zitadel;
  // During the retries, an instance of this service may have become available.
  const again = await ask();
  if (typeof again === 'string') throw placeNotKnown({ place: origin, reason: again, ofZitadel: zitadel });
  return again;
}

/** @returns the reason if the server is not this service */
async function recogniseOurs(origin: string, { status, headers, body }: HttpResponse): Promise<Recognised | string> {
  if (status >= 300 && status < 400)
    throw placeNotKnown({ place: origin, reason: `it redirects to ${redirectOrigin(origin, headers.location)}` });
  // Go's servers and nginx respond to plain requests on a TLS port.
  const isPlain = status === 400 ? await plainToTls(origin) : undefined;
  if (isPlain !== undefined) throw isPlain;
  if (status !== 200) return `${PATH} returns ${status}`;
  const document = ours.safeParse(parseIfJson(await readText(body, MAX_DESCRIPTION_BYTES))).data;
  const hasOperations = document?.paths['/admin/v1/export'] ?? document?.paths['/admin/v1/import'];
  if (document === undefined || hasOperations === undefined) return `${PATH} describes another service`;
  const { info, 'x-limits': callLimits } = document;
  return { service: 'identity', version: info.version, callLimits };
}

function redirectOrigin(origin: string, location: string | undefined): string {
  return URL.parse(location ?? '', origin)?.origin ?? 'another address';
}

/**
 * Opens a server as a place: an instance of this service or of ZITADEL. Each call recognises the service first, so that
 * no other service receives the token.
 */
export function openRemote(settings: InstanceSettings): DatabasePlace {
  return {
    takes: 'imports',
    name: settings.origin,
    readExport: async (options, signal) => (await openRecognised(settings, signal)).readExport(options, signal),
    import: async (content, options, meter, signal) =>
      (await openRecognised(settings, signal)).import(content, options, meter, signal),
    prepareImport: async (database, signal) =>
      (await openRecognised(settings, signal)).prepareImport?.(database, signal),
    organisations: async (signal) => (await openRecognised(settings, signal)).organisations(signal),
    facts: async (operations, signal) => (await openRecognised(settings, signal)).facts(operations, signal),
  };
}

/** Loads only the modules of the recognised service. */
async function openRecognised(settings: InstanceSettings, signal: AbortSignal): Promise<DatabasePlace> {
  const found = await recognise(settings.origin, signal);
  return found.service === 'identity'
    ? (await import('../places/instancePlace.ts')).openServer(overNetwork(settings), found)
    : (await import('../zitadel/zitadelPlace.ts')).openZitadel(settings, found);
}
