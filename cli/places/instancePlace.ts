import type { ImportResponse } from '../../functions/import/contract.ts';
import { placeBroke } from '../../shared/errors/placeErrors.ts';
import { snakeCase } from '../../shared/wire/requestMessage.ts';
import { callServer, type HttpCall, type HttpResponse } from '../httpClient.ts';
import { connectionReason } from '../tls.ts';
import { ACCEPT, type CalledInstance, readImportResponse, responseError } from './instanceResponses.ts';
import type {
  DatabasePlace,
  ExportContent,
  ExportOptions,
  ImportMeter,
  ImportOptions,
  PlaceFacts,
  Recognised,
} from './place.ts';

/** Opens an instance of this service as a place: it exports and imports by the interface. */
export function openInstance(settings: InstanceSettings, recognised: Recognised): DatabasePlace {
  return {
    takes: 'imports',
    name: settings.origin,
    readExport: (options) => readContent(settings, options),
    import: (content, options, meter, signal) => importInto(settings, content, options, meter, signal),
    facts: (signal) => readFacts(settings, recognised, signal),
  };
}

async function readContent(settings: InstanceSettings, options: ExportOptions): Promise<ExportContent> {
  async function* bytes(signal: AbortSignal): AsyncGenerator<Uint8Array> {
    const body = [Buffer.from(JSON.stringify({ ...toRequest(options), response_output: true }))];
    using response = await post(settings, { operation: 'export', body }, signal);
    try {
      for await (const chunk of response.body) yield chunk;
    } catch (error) {
      signal.throwIfAborted();
      throw placeBroke(settings.origin, connectionReason(error));
    }
  }
  return { isRepeatable: false, open: bytes, [Symbol.asyncDispose]: async () => {} };
}

async function importInto(
  settings: InstanceSettings,
  content: ExportContent,
  options: ImportOptions,
  meter: ImportMeter,
  signal: AbortSignal,
): Promise<ImportResponse> {
  const body = importBody(content.open(signal), options);
  using response = await post(settings, { operation: 'import', accept: ACCEPT, asksFirst: true, body }, signal);
  return await readImportResponse(settings, response, meter, signal);
}

/** A call of an operation. */
type OperationCall = Pick<HttpCall, 'accept' | 'asksFirst' | 'body'> & { readonly operation: Operation };

/** @throws IdentityError for a response other than 200 */
async function post(settings: InstanceSettings, call: OperationCall, signal: AbortSignal): Promise<HttpResponse> {
  const response = await callOperation(settings, call, signal);
  if (response.status === 200) return response;
  using failed = response;
  throw await responseError(settings, failed);
}

function callOperation(
  { origin, token }: InstanceSettings,
  { operation, ...call }: OperationCall,
  signal: AbortSignal,
): Promise<HttpResponse> {
  return callServer(origin, { method: 'POST', path: `/admin/v1/${operation}`, token, ...call }, signal);
}

/** Yields a request whose last field is the file, so that it is streamed. */
async function* importBody(file: AsyncIterable<Uint8Array>, options: ImportOptions): AsyncGenerator<Uint8Array> {
  yield Buffer.from(`${JSON.stringify(toRequest(options)).slice(0, -1)},"data_orgs":`);
  yield* file;
  yield Buffer.from('}');
}

/** Returns options as the fields of a request. */
function toRequest({ timeoutMs, ...options }: ExportOptions | ImportOptions): Record<string, unknown> {
  const fields = Object.entries(options).map(([name, value]) => [snakeCase(name), value]);
  return { ...(timeoutMs === undefined ? {} : { timeout: `${timeoutMs}ms` }), ...Object.fromEntries(fields) };
}

/** An instance with the token for it. */
export interface InstanceSettings extends CalledInstance {
  readonly token: string;
}

/** The operations of the interface that move organisations. */
export type Operation = 'export' | 'import';

/** What no export of this service holds (specification 8.4). */
export const ownLosses: readonly string[] = [
  'the policies, members, identity providers and factors of the instance',
  'passkeys and U2F factors, and personal access tokens',
  'sessions: each person logs in once after the migration',
];

/** Asks an instance of this service about the token. */
async function readFacts(settings: InstanceSettings, recognised: Recognised, signal: AbortSignal): Promise<PlaceFacts> {
  return {
    ...recognised,
    // The interface tells neither.
    instance: undefined,
    defaultOrgId: undefined,
    domains: [],
    caller: undefined,
    mayExport: await isPermitted(settings, 'export', signal),
    mayImport: await isPermitted(settings, 'import', signal),
    limits: [
      'a request may have 1 GB where the target is self-hosted, and 32 MB in Cloud Functions: above, import from a bucket',
    ],
    exportLosses: ownLosses,
    importChanges: [],
  };
}

async function isPermitted(settings: InstanceSettings, operation: Operation, signal: AbortSignal): Promise<boolean> {
  const denial = await findDenial(settings, operation, signal);
  if (denial !== undefined && denial.code !== 'PERMISSION_DENIED') throw denial;
  return denial === undefined;
}

/**
 * Finds out whether a token permits an operation, by a request without content: only a caller with the permission learns
 * that it is invalid, and nothing happens.
 * @returns the error of a denied call
 */
export async function findDenial(settings: InstanceSettings, operation: Operation, signal: AbortSignal) {
  using response = await callOperation(settings, { operation, body: [Buffer.from('{}')] }, signal);
  return response.status === 400 ? undefined : responseError(settings, response);
}
