// A running instance of this service as a place.

import { z } from 'zod';
import { exportOptions, NO_ORGANISATION } from '../../functions/export/contract.ts';
import { EXPORT_FILE, type ImportResponse } from '../../functions/import/contract.ts';
import { responseTooLarge } from '../../shared/errors/errors.ts';
import { hasCode, type IdentityError } from '../../shared/errors/identityError.ts';
import { contentTooLarge, placeLost, sourceInvalid } from '../../shared/errors/placeErrors.ts';
import { proveExport } from '../../shared/exportFile/inspection.ts';
import { exportedManifest } from '../../shared/exportFile/manifest.ts';
import { parseIfJson } from '../../shared/json/jsonObject.ts';
import { UNLIMITED } from '../../shared/limitDefinition.ts';
import { makeRepeatable, undisposed } from '../exports/fileContent.ts';
import { joinPages } from '../exports/joinPages.ts';
import { listExportedOrganisations } from '../exports/listOrganisations.ts';
import {
  type DatabasePlace,
  type ExportFile,
  type ImportMeter,
  type PlaceExportOptions,
  type PlaceFacts,
  type PlaceImportOptions,
  type PlaceOperation,
  type Recognised,
  requireNoneForZitadel,
} from '../exports/placeInterfaces.ts';
import { callBriefly, callServer, type HttpCall, type HttpResponse, readText } from '../httpClient.ts';
import { connectionReason } from '../tls.ts';
import { importParts, type PartTarget } from './importParts.ts';
import { importQuery, requireSendable, toRequest } from './importQuery.ts';
import { ACCEPT, type CalledInstance, readImportResponse, responseError } from './instanceResponses.ts';

/** Opens a running instance of this service as a place. */
export function openInstance(settings: InstanceSettings, recognised: Recognised): DatabasePlace {
  const { requestBytes = UNLIMITED } = recognised.callLimits ?? {};
  return {
    takes: 'imports',
    name: settings.origin,
    readExport: (options) => exportFromInstance(settings, options),
    import: async (content, options, meter, signal) => {
      requireNoneForZitadel(options);
      requireSendable(options);
      meter.onBegun('sending');
      if (requestBytes === UNLIMITED) return await importIntoInstance(settings, content, options, meter, signal);
      await using file = await makeRepeatable(content, signal);
      const bytes = await countBytes(file, signal);
      if (bytes <= requestBytes) return await importIntoInstance(settings, file, options, meter, signal);
      const send: PartTarget['send'] = (part, partOptions, partMeter) =>
        importIntoInstance(settings, { open: () => [part] }, partOptions, partMeter, signal);
      return await importParts({ origin: settings.origin, requestBytes, send }, file, options, meter, signal);
    },
    organisations: (signal) => listExportedOrganisations((options) => exportFromInstance(settings, options), signal),
    facts: (operations, signal) => readInstanceFacts(settings, recognised, operations, signal),
  };
}

/** Reads content to its end, so that its owner's counts and checks run, and returns its size. */
async function countBytes(content: ExportFile, signal: AbortSignal): Promise<number> {
  let bytes = 0;
  for await (const chunk of content.open(signal)) bytes += chunk.byteLength;
  return bytes;
}

async function exportFromInstance(settings: InstanceSettings, options: PlaceExportOptions): Promise<ExportFile> {
  const form = options.orgsOnly === true ? { orgs_only: true } : {};
  async function* read(page: object, signal: AbortSignal): AsyncGenerator<Uint8Array> {
    const body = [
      Buffer.from(JSON.stringify({ ...toRequest(options, exportOptions), ...form, response_output: true, ...page })),
    ];
    using response = await callOperation(settings, { operation: 'export', body }, signal);
    yield* proved(settings, response, signal);
  }
  async function* readForm(signal: AbortSignal): AsyncGenerator<Uint8Array> {
    try {
      yield* read({}, signal);
    } catch (error) {
      throw responseTooLarge.is(error) ? formTooLarge(settings) : error;
    }
  }
  const open = (signal: AbortSignal) =>
    options.forZitadel ? readForm(signal) : joinPages((token) => read({ paged: true, page_token: token }, signal));
  return { isRepeatable: false, open, ...undisposed };
}

/**
 * Yields the bytes of an export, and ends only if its manifest matches.
 * @throws IdentityError for a response that is no export, or incomplete
 */
async function* proved(
  settings: InstanceSettings,
  response: HttpResponse,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array, void, void> {
  try {
    yield* proveExport({ open: () => received(settings, response, signal) }, signal);
  } catch (error) {
    throw hasCode(error, 'INVALID_ARGUMENT') ? damaged(settings, response, error.message) : error;
  }
}

async function* received(
  { origin }: InstanceSettings,
  { body }: HttpResponse,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  try {
    yield* body;
  } catch (error) {
    signal.throwIfAborted();
    throw placeLost({ place: origin, moment: 'during its export', reason: connectionReason(error) });
  }
}

const CHECK_ADDRESS =
  'check that the address leads to the instance, and that no gateway answers in its place, or cuts or changes responses, then repeat the command';

/** Creates the error for an export in ZITADEL's form above the limit of a response: the form has no pages. */
function formTooLarge({ origin }: InstanceSettings): IdentityError {
  return contentTooLarge({
    content: 'an export in the form for ZITADEL',
    place: origin,
    advice: 'export its database (firestore:PROJECT/DATABASE or sqlite:DIR), or fewer organisations with --org',
  });
}

/** Creates the error for a response that is no export. It contains a content type other than JSON, such as a gateway's. */
function damaged({ origin }: InstanceSettings, { headers }: HttpResponse, problem: string): IdentityError {
  const type = headers['content-type'] ?? 'none';
  const isJson = /^application\/json\s*(?:;|$)/i.test(type);
  const reason = isJson ? problem : `${problem}; content type: ${type}`;
  return sourceInvalid({ place: origin, problem: `returned a damaged export (${reason})`, advice: CHECK_ADDRESS });
}

async function importIntoInstance(
  settings: InstanceSettings,
  content: { open(signal: AbortSignal): NonNullable<HttpCall['body']> },
  options: PlaceImportOptions,
  meter: ImportMeter,
  signal: AbortSignal,
): Promise<ImportResponse> {
  const file = { contentType: EXPORT_FILE, body: content.open(signal), query: importQuery(options) };
  using response = await callOperation(
    settings,
    { operation: 'import', accept: ACCEPT, asksFirst: true, ...file },
    signal,
  );
  return await readImportResponse(settings, response, meter, signal);
}

type OperationCall = Pick<HttpCall, 'accept' | 'asksFirst' | 'contentType' | 'body'> & {
  readonly operation: PlaceOperation;
  readonly query?: string;
};

/** @throws IdentityError for a response other than 200 */
async function callOperation(
  settings: InstanceSettings,
  call: OperationCall,
  signal: AbortSignal,
): Promise<HttpResponse> {
  const response = await callServer(settings.origin, operationCall(settings, call), signal);
  if (response.status === 200) return response;
  using failed = response;
  throw await responseError(settings, failed);
}

function operationCall({ token }: InstanceSettings, { operation, query, ...call }: OperationCall): HttpCall {
  const path = `/admin/v1/${operation}${query === undefined ? '' : `?${query}`}`;
  return { method: 'POST', path, token, ...call };
}

/** An instance with the token for it. */
export interface InstanceSettings extends CalledInstance {
  readonly token: string;
}

/** The content that no export of this service contains (specification 8.4). */
export const ownLosses: readonly string[] = ['sessions'];

/** Reads the facts about an instance of this service, and the permissions of the token. */
async function readInstanceFacts(
  settings: InstanceSettings,
  recognised: Recognised,
  operations: readonly PlaceOperation[],
  signal: AbortSignal,
): Promise<PlaceFacts> {
  const denied: PlaceOperation[] = [];
  let manifest: Trial['manifest'];
  for (const operation of operations) {
    const trial = await tryOperation(settings, operation, signal);
    if (trial.denial !== undefined && trial.denial.code !== 'PERMISSION_DENIED') throw trial.denial;
    if (trial.denial !== undefined) denied.push(operation);
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

/** Valid requests without effect. */
const trials: Readonly<Record<PlaceOperation, unknown>> = {
  export: { org_ids: [NO_ORGANISATION], response_output: true },
  import: { dry_run: true, data_orgs: { orgs: [] } },
};
const trialResponse = z.object({
  manifest: exportedManifest.pick({ instance: true, defaultOrgId: true, instanceId: true }).optional(),
});
const MAX_TRIAL_BYTES = 1_000_000;

/** The response to a trial: the error of a denied call, or the instance in an export's manifest. */
interface Trial extends z.output<typeof trialResponse> {
  readonly denial?: IdentityError;
}

/**
 * Tries whether a token permits an operation.
 * @throws IdentityError for a response that is no export
 */
export function tryOperation(
  settings: InstanceSettings,
  operation: PlaceOperation,
  signal: AbortSignal,
): Promise<Trial> {
  const body = [Buffer.from(JSON.stringify(trials[operation]))];
  return callBriefly(settings.origin, operationCall(settings, { operation, body }), signal, async (response) => {
    if (response.status !== 200) return { denial: await responseError(settings, response) };
    const content = operation === 'export' ? proved(settings, response, signal) : response.body;
    const text = await readText(content, MAX_TRIAL_BYTES);
    return trialResponse.safeParse(parseIfJson(text)).data ?? {};
  });
}
