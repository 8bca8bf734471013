import { basename } from 'node:path/posix';
import { z } from 'zod';
import { exportOptions, NO_ORGANISATION } from '../../functions/export/contract.ts';
import { EXPORT_FILE, type ImportResponse } from '../../functions/import/contract.ts';
import { responseTooLarge } from '../../shared/errors/errors.ts';
import { hasCode, type IdentityError } from '../../shared/errors/identityError.ts';
import { contentTooLarge, sourceInvalid } from '../../shared/errors/placeErrors.ts';
import type { RecordWarning } from '../../shared/errors/warnings.ts';
import { proveExport } from '../../shared/exportFile/inspection.ts';
import { exportedManifest, MAX_MANIFEST_BYTES } from '../../shared/exportFile/manifest.ts';
import { parseIfJson } from '../../shared/json/jsonObject.ts';
import { writtenObject } from '../../shared/wire/requestMessage.ts';
import { makeRepeatable } from '../exports/fileContent.ts';
import { listExportedOrganisations } from '../exports/listOrganisations.ts';
import type {
  DatabasePlace,
  ExportFile,
  ImportMeter,
  PlaceExportOptions,
  PlaceFacts,
  PlaceImportOptions,
  PlaceOperation,
  Recognised,
} from '../exports/placeInterfaces.ts';
import { callBriefly, type HttpResponse, readText } from '../http/httpClient.ts';
import { counted } from '../terminal/numberTexts.ts';
import type { Server } from './calledServer.ts';
import { importQuery, requireSendable, toRequest } from './importQuery.ts';
import { callOperation, HeldFile, jsonCall, operationCall } from './instanceCalls.ts';
import { ACCEPT, CHECK_ADDRESS, readImportResponse, responseError } from './instanceResponses.ts';

export function openServer(server: Server, recognised: Recognised): DatabasePlace {
  const { callLimits = {} } = recognised;
  return {
    takes: 'imports',
    name: server.name,
    readExport: (options) => exportFromInstance(server, callLimits, options),
    import: (content, options, meter, signal) =>
      importIntoInstance({ server, callLimits, content, options, meter }, signal),
    organisations: (signal) =>
      listExportedOrganisations((options) => exportFromInstance(server, callLimits, options), signal),
    facts: (operations, signal) => readInstanceFacts(server, recognised, operations, signal),
  };
}

type OnItems = Parameters<ExportFile['open']>[1];
/**
 * A function that yields the bytes of an export. One function of this type validates the export, the other does not.
 */
type Pass = (
  source: { readonly open: () => AsyncIterable<Uint8Array> },
  response: HttpResponse,
) => AsyncIterable<Uint8Array>;
type CallLimits = NonNullable<Recognised['callLimits']>;

async function exportFromInstance(
  server: Server,
  callLimits: CallLimits,
  options: PlaceExportOptions,
): Promise<ExportFile> {
  const form = options.orgsOnly === true ? { orgs_only: true } : {};
  const request = { ...toRequest(options, exportOptions), ...form, response_output: true };
  const notices: RecordWarning[] = [];
  const held = new HeldFile(server, 'export');
  let fraction: number | undefined;
  const onReceived = (share: number) => {
    fraction = share;
  };
  let responded: Partial<Pick<HttpResponse, 'headers'>> = {};
  async function* read(signal: AbortSignal, pass: Pass): AsyncGenerator<Uint8Array> {
    const call = callOperation(server, jsonCall('export', request), [200, SEE_OTHER], signal);
    await using response = await call.catch((error: unknown) => {
      throw responseTooLarge.is(error) ? exportTooLarge(server, callLimits, error) : error;
    });
    responded = response;
    if (response.status === SEE_OTHER)
      notices.push(...(yield* exportedObject({ server, response, held, onReceived, pass }, signal)));
    else yield* pass({ open: () => response.body }, response);
  }
  return {
    isRepeatable: false,
    isValidated: true,
    open: (signal, onItems) =>
      read(signal, (source, response) => proved(server, response, source.open, signal, onItems)),
    once: {
      open: (signal) => read(signal, (source) => source.open()),
      damaged: (problem) => damaged(server, responded, problem),
    },
    notices,
    fraction: () => fraction,
    deleteAfter: (error) => held.deleteAfter(error),
    [Symbol.asyncDispose]: async () => void (await held.delete()),
  };
}

const SEE_OTHER = 303;

interface ExportedObject {
  readonly server: Server;
  readonly response: HttpResponse;
  readonly held: HeldFile;
  /** Called with the fraction of the object's bytes that have arrived, from 0 to 1. */
  readonly onReceived: (share: number) => void;
  readonly pass: Pass;
}

/**
 * Yields the bytes of an export that the instance has stored in its bucket. Then deletes the stored object, even after
 * an error.
 * @returns a warning if the command could not delete the object
 */
async function* exportedObject(
  { server, response, held, onReceived, pass }: ExportedObject,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array, readonly RecordWarning[]> {
  const described = parseIfJson(await readText(response, MAX_DESCRIPTION_BYTES));
  const { data } = z.looseObject({ object: writtenObject }).safeParse(described);
  if (data === undefined)
    throw damaged(server, response, 'the response does not describe the object that contains the export');
  const { object } = data;
  held.hold(basename(object.path));
  try {
    const { downloadObject, parseAddress } = await import('./bucketTransfers.ts');
    const address = parseAddress(server.name, response.headers.location);
    const open = () => downloadObject(address, object, (bytes) => onReceived(bytes / object.size), signal);
    yield* pass({ open }, response);
  } catch (error) {
    throw signal.aborted ? error : await held.deleteAfter(error);
  }
  const kept = await held.delete(signal);
  return kept === undefined ? [] : [kept];
}

/**
 * The maximum size of a response that describes an export in the bucket. Such a response contains the export's
 * manifest.
 */
const MAX_DESCRIPTION_BYTES = MAX_MANIFEST_BYTES + 100_000;

/**
 * Yields the bytes of an export. Fails after the last byte if the manifest does not match the export.
 * @throws IdentityError if the response is not an export or is incomplete
 */
async function* proved(
  server: Server,
  response: HttpResponse,
  open: () => AsyncIterable<Uint8Array>,
  signal: AbortSignal,
  onItems?: OnItems,
): AsyncGenerator<Uint8Array, void, void> {
  try {
    yield* proveExport({ open }, signal, onItems);
  } catch (error) {
    throw hasCode(error, 'INVALID_ARGUMENT') ? damaged(server, response, error.message) : error;
  }
}

function exportTooLarge({ name }: Server, { responseBytes }: CallLimits, cause: unknown): IdentityError {
  return contentTooLarge(
    {
      content: 'the export',
      place: name,
      limit: responseBytes === undefined ? undefined : `${counted(responseBytes, 'byte')} in a response`,
      advice: `raise MAX_RESPONSE_BYTES of a self-hosted instance, export fewer organisations with --org, export its database (firestore:PROJECT/DATABASE or sqlite:DIR), or request the export with gcs_output`,
    },
    { cause },
  );
}

/** If the content type is not JSON, the error contains the type, because a gateway may have sent the response. */
function damaged(
  { name }: Server,
  { headers = {} }: Partial<Pick<HttpResponse, 'headers'>>,
  problem: string,
): IdentityError {
  const type = headers['content-type'] ?? 'none';
  const isJson = /^application\/json\s*(?:;|$)/i.test(type);
  const reason = isJson ? problem : `${problem}; content type: ${type}`;
  return sourceInvalid({ place: name, problem: `returned a damaged export (${reason})`, advice: CHECK_ADDRESS });
}

interface InstanceImport {
  readonly server: Server;
  readonly callLimits: CallLimits;
  readonly content: ExportFile;
  readonly options: PlaceImportOptions;
  readonly meter: ImportMeter;
}

async function importIntoInstance(importing: InstanceImport, signal: AbortSignal): Promise<ImportResponse> {
  const { server, callLimits, content, options, meter } = importing;
  const { requestBytes, transfers } = callLimits;
  const { size = Number.POSITIVE_INFINITY } = content;
  const isSent = requestBytes === undefined || size <= requestBytes;
  // A server in this process reads the file directly. For any other server, the file's size decides whether the command
  // sends the file in the request or through the bucket.
  meter.onPhase(server.isRemote && (isSent || transfers !== true) ? 'sending' : 'reading');
  if (isSent) return await sendFile(importing, content, signal);
  await using file = await makeRepeatable(content, signal);
  // If the content was copied, its bytes were counted and checked at that time. Otherwise, this count also checks the
  // content before the upload.
  const bytes = (content.isRepeatable ? undefined : file.size) ?? (await countBytes(file, signal));
  if (bytes <= requestBytes) return await sendFile(importing, file, signal);
  if (transfers !== true) throw fileTooLarge(server, requestBytes);
  const { importUploaded } = await import('./uploadedImport.ts');
  return await importUploaded(server, { content: file, bytes }, options, meter, signal);
}

async function countBytes(content: ExportFile, signal: AbortSignal): Promise<number> {
  let bytes = 0;
  for await (const chunk of content.open(signal)) bytes += chunk.byteLength;
  return bytes;
}

function fileTooLarge({ name }: Server, requestBytes: number): IdentityError {
  return contentTooLarge({
    content: 'the file',
    place: name,
    limit: `${counted(requestBytes, 'byte')} in a request`,
    advice: `raise MAX_REQUEST_BYTES of a self-hosted instance, import into its database (--to firestore:PROJECT/DATABASE or sqlite:DIR), or request the import of an object in Cloud Storage with data_orgs_gcs`,
  });
}

async function sendFile(
  { server, options, meter }: InstanceImport,
  content: ExportFile,
  signal: AbortSignal,
): Promise<ImportResponse> {
  if (server.isRemote) requireSendable(options);
  const file = { contentType: EXPORT_FILE, file: content, query: importQuery(options) };
  const call = { operation: 'import', accept: ACCEPT, asksFirst: true, ...file } as const;
  await using response = await callOperation(server, call, [200], signal);
  return await readImportResponse(server, response, meter);
}

/** Content that exports of this service never contain (specification 8.4). */
export const ownLosses: readonly string[] = ['sessions'];

async function readInstanceFacts(
  server: Server,
  recognised: Recognised,
  operations: readonly PlaceOperation[],
  signal: AbortSignal,
): Promise<PlaceFacts> {
  const denied: PlaceOperation[] = [];
  let manifest: Trial['manifest'];
  for (const operation of operations) {
    const trial = await tryOperation(server, operation, signal);
    if (trial.isDenied === true) denied.push(operation);
    manifest ??= trial.manifest;
  }
  return {
    ...recognised,
    instance: manifest?.instance,
    defaultOrgId: manifest?.defaultOrgId,
    instanceId: manifest?.instanceId,
    denied,
    exportLosses: ownLosses,
  };
}

/**
 * For each operation, a valid request that does not change the instance. The response to the request shows whether the
 * token permits the operation.
 */
const trials: Readonly<Record<PlaceOperation, object>> = {
  export: { org_ids: [NO_ORGANISATION], response_output: true },
  import: { dry_run: true, data_orgs: { orgs: [] } },
};
const trialResponse = z.object({
  manifest: exportedManifest.pick({ instance: true, defaultOrgId: true, instanceId: true }).optional(),
});
const MAX_TRIAL_BYTES = 1_000_000;

/**
 * The response to one of the requests in `trials`. If the token permits exports, the response contains a manifest that
 * describes the instance.
 */
interface Trial extends z.output<typeof trialResponse> {
  readonly isDenied?: true;
}

/** @throws IdentityError for any error except a missing permission, and for a response that is not an export */
function tryOperation(server: Server, operation: PlaceOperation, signal: AbortSignal): Promise<Trial> {
  const call = operationCall(jsonCall(operation, trials[operation]));
  return callBriefly(server, call, signal, async (response) => {
    if (response.status !== 200) {
      const error = await responseError(server, response);
      if (error.code !== 'PERMISSION_DENIED') throw error;
      return { isDenied: true };
    }
    const { body } = response;
    const content = operation === 'export' ? proved(server, response, () => body, signal) : body;
    const text = await readText({ ...response, body: content }, MAX_TRIAL_BYTES);
    return trialResponse.safeParse(parseIfJson(text)).data ?? {};
  });
}
