import type { ImportResponse } from '../../functions/import/contract.ts';
import { placeBroke } from '../../shared/errors/placeErrors.ts';
import { snakeCase } from '../../shared/wire/requestMessage.ts';
import { callInstance, connectionReason, type HttpCall, type HttpResponse } from './httpCall.ts';
import { ACCEPT, readImportResponse } from './importEvents.ts';
import { responseError } from './instanceErrors.ts';
import { type InstanceSettings, type Operation, readFacts } from './instanceFacts.ts';
import type { DatabasePlace, ExportContent, ExportOptions, ImportMeter, ImportOptions } from './place.ts';

/** Opens an instance of this service as a place: it exports and imports by the interface. */
export function openInstance(settings: InstanceSettings): DatabasePlace {
  return {
    takes: 'imports',
    name: settings.origin,
    readExport: (options) => readContent(settings, options),
    import: (content, options, meter, signal) => importInto(settings, content, options, meter, signal),
    facts: (signal) => readFacts(settings, signal),
  };
}

async function readContent(settings: InstanceSettings, options: ExportOptions): Promise<ExportContent> {
  async function* bytes(signal: AbortSignal): AsyncGenerator<Uint8Array> {
    const body = [Buffer.from(JSON.stringify({ ...toRequest(options), response_output: true }))];
    using response = await post(settings, { operation: 'export', body: toAsync(body) }, signal);
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
  using response = await post(settings, { operation: 'import', accept: ACCEPT, body }, signal);
  return await readImportResponse(settings, response, meter, signal);
}

/** @throws IdentityError for a response other than 200 */
async function post(
  settings: InstanceSettings,
  { operation, ...call }: Pick<HttpCall, 'accept' | 'body'> & { readonly operation: Operation },
  signal: AbortSignal,
): Promise<HttpResponse> {
  const { origin, token } = settings;
  const path = `/admin/v1/${operation}`;
  const response = await callInstance(origin, { method: 'POST', path, token, ...call }, signal);
  if (response.status === 200) return response;
  using failed = response;
  throw await responseError(settings, failed);
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

async function* toAsync<Item>(items: Iterable<Item>): AsyncGenerator<Item> {
  yield* items;
}
