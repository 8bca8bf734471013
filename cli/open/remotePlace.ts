import { z } from 'zod';
import type { IdentityError } from '../../shared/errors/identityError.ts';
import { placeNotKnown } from '../../shared/errors/placeErrors.ts';
import { parseIfJson } from '../../shared/json/jsonObject.ts';
import type { DatabasePlace, Recognised } from '../exports/placeInterfaces.ts';
import { isRedirection } from '../http/gatewayResponse.ts';
import {
  callBriefly,
  callServer,
  type HttpCall,
  type HttpResponse,
  readErrorText,
  readText,
} from '../http/httpClient.ts';
import { isLater } from '../http/laterResponse.ts';
import { sentenceIn } from '../http/serverSentence.ts';
import { plainToTls } from '../http/tls.ts';
import { type InstanceSettings, overNetwork, type Server } from '../places/calledServer.ts';
import { recogniseZitadel } from '../zitadel/zitadelInstance.ts';

const PATH = '/openapi.json';
const MAX_DESCRIPTION_BYTES = 4_000_000;
const MAX_PAGE_BYTES = 100_000;
const NOT_FOUND = 404;
const bytes = z.int().positive().exactOptional();
const transfers = z.literal(true).exactOptional();
const statedLimits = z.object({ requestBytes: bytes, responseBytes: bytes, transfers });
const ours = z.object({
  info: z.object({ title: z.literal('Identity'), version: z.string() }),
  paths: z.record(z.string(), z.unknown()),
  'x-limits': statedLimits.default({}),
});

/**
 * Finds out which service is at an address. Does not send the token.
 * @throws IdentityError if the server is unreachable or is another service; the signal's reason after an abort
 */
async function recognise(settings: InstanceSettings, signal: AbortSignal): Promise<Recognised> {
  const { origin, onRetry } = settings;
  const server = {
    ...overNetwork(settings),
    send: (call: HttpCall, ends: AbortSignal) => callServer(origin, call, ends),
  };
  const read = (response: HttpResponse) => recogniseOurs(server, response);
  const recognised = await callBriefly(server, { method: 'GET', path: PATH }, signal, read);
  if ('service' in recognised) return recognised;
  const zitadel = await recogniseZitadel({ origin, signal, onRetry });
  if (typeof zitadel !== 'string') return zitadel;
  throw recognised.refusal ?? placeNotKnown({ place: origin, reason: recognised.reason, ofZitadel: zitadel });
}

interface OtherServer {
  /** Why the server is not an instance of this service. */
  readonly reason: string;
  /**
   * The error for a response with a status other than 200 and 404, from the server or from a gateway in front of it.
   */
  readonly refusal?: IdentityError;
}

async function recogniseOurs(server: Server, response: HttpResponse): Promise<Recognised | OtherServer> {
  const { status } = response;
  // Some servers, such as nginx and servers in Go, respond with status 400 if the scheme is http but the port expects
  // TLS.
  const isPlain = status === 400 ? await plainToTls(server.name) : undefined;
  if (isPlain !== undefined) throw isPlain;
  if (status !== 200) {
    if (status === NOT_FOUND) {
      const sentence = sentenceIn(await readErrorText(response, MAX_PAGE_BYTES));
      return { reason: `${PATH} returns ${status}${sentence === '' ? '' : `: ${sentence}`}` };
    }
    const { responseError } = await import('../places/instanceResponses.ts');
    const refusal = await responseError(server, response);
    if (status >= 500 || isLater(refusal) || isRedirection(status)) throw refusal;
    return { reason: `${PATH} returns ${status}`, refusal };
  }
  const document = ours.safeParse(parseIfJson(await readText(response, MAX_DESCRIPTION_BYTES))).data;
  const hasOperations = document?.paths['/admin/v1/export'] ?? document?.paths['/admin/v1/import'];
  if (document === undefined || hasOperations === undefined) return { reason: `${PATH} describes another service` };
  const { info, 'x-limits': callLimits } = document;
  return { service: 'identity', version: info.version, callLimits };
}

/**
 * Returns a place for a server. Each call first verifies that the server is an instance of this service, or ZITADEL,
 * and only then sends the token.
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

/** Opens a server as a place. Loads only the modules for the service at the address. */
async function openRecognised(settings: InstanceSettings, signal: AbortSignal): Promise<DatabasePlace> {
  const recognised = await recognise(settings, signal);
  return recognised.service === 'identity'
    ? (await import('../places/instancePlace.ts')).openServer(overNetwork(settings), recognised)
    : (await import('../zitadel/zitadelPlace.ts')).openZitadel(settings, recognised);
}
