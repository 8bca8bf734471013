import { z } from 'zod';
import { type ImportResponse, importOptions, recordConflict } from '../../functions/import/contract.ts';
import { gatewayTimedOut, placeUnavailable } from '../../shared/errors/placeErrors.ts';
import { parseIfJson } from '../../shared/json/jsonObject.ts';
import { repetitionWarnings } from '../exports/importOutcomes.ts';
import type { ExportFile, ImportMeter, PlaceImportOptions } from '../exports/placeInterfaces.ts';
import { callBriefly, readText } from '../http/httpClient.ts';
import { isConnectionLost, reconnecting } from '../http/reconnection.ts';
import { parseAddress, uploadFile } from './bucketTransfers.ts';
import type { Server } from './calledServer.ts';
import { toRequest } from './importQuery.ts';
import { callOnce, HeldFile, jsonCall, operationCall } from './instanceCalls.ts';
import { ACCEPT, readImportResponse, responseError, unlikeResponse } from './instanceResponses.ts';

export interface SizedFile {
  readonly content: Pick<ExportFile, 'open'>;
  readonly bytes: number;
}

/**
 * Uploads a file to the bucket of an instance, imports the file from there, and deletes it from the bucket, even after
 * an error. Repeats the import if the connection breaks, or if the instance ends a request at the instance's time
 * limit.
 * @throws IdentityError if the upload or the import fails
 */
export async function importUploaded(
  server: Server,
  { content, bytes }: SizedFile,
  options: PlaceImportOptions,
  meter: ImportMeter,
  signal: AbortSignal,
): Promise<ImportResponse> {
  const { id, uri } = await openUpload(server, bytes, signal);
  let sent = 0;
  const onSent = (position: number) => {
    sent = position;
  };
  meter.onPhase('uploading', () => ({ records: 0, bytes: sent, total: bytes }));
  const upload = { address: parseAddress(server.name, uri), size: bytes, onSent };
  const held = new HeldFile(server, 'import', id);
  try {
    await uploadFile(upload, content.open(signal), signal);
    const response = await importUpload(server, id, options, meter, signal);
    const kept = await held.delete(signal);
    return withWarnings(response, kept === undefined ? [] : [{ type: 'upload', ...kept }]);
  } catch (error) {
    signal.throwIfAborted();
    // After this error, the uploaded file is of no more use: a repeated command uploads the file anew. So delete it.
    throw await held.deleteAfter(error);
  }
}

const openedUpload = z.object({ upload: z.object({ id: z.string(), uri: z.string() }) });
const MAX_OPENED_BYTES = 100_000;

async function openUpload(server: Server, size: number, signal: AbortSignal) {
  const call = operationCall(jsonCall('import', { upload: { size } }));
  return await callBriefly(server, call, signal, async (response) => {
    if (response.status !== 200) throw await responseError(server, response);
    const { data } = openedUpload.safeParse(parseIfJson(await readText(response, MAX_OPENED_BYTES)));
    if (data === undefined) throw unlikeResponse(server, response, 'address for an upload');
    return data.upload;
  });
}

/** Repeats the request until the import has ended. */
async function importUpload(
  server: Server,
  id: string,
  options: PlaceImportOptions,
  meter: ImportMeter,
  signal: AbortSignal,
): Promise<ImportResponse> {
  const { onConflict, timeoutMs = Number.POSITIVE_INFINITY } = options;
  const endsAt = performance.now() + timeoutMs;
  let settled = 0;
  let attempts = 0;
  const onPhase: ImportMeter['onPhase'] = (phase, done) => {
    settled = Math.max(settled, done?.().records ?? 0);
    meter.onPhase(phase, done);
  };
  const repeating = {
    output: { retry: meter.onRetry },
    signal,
    isLost: (error: unknown): error is Error => isUnfinished(error) && performance.now() < endsAt,
  };
  const response = await reconnecting(repeating, async () => {
    attempts++;
    // An earlier attempt may already have written organisations, which the value `fail` of `--on-conflict` would
    // reject. So an attempt sends this value only if no earlier attempt has reported a processed record.
    const isFirst = settled === 0 || options.dryRun;
    const asked = isFirst ? onConflict : recordConflict(onConflict);
    const request = toRequest({ ...options, onConflict: asked }, importOptions);
    const call = { ...jsonCall('import', { ...request, data_orgs_upload: id }), accept: ACCEPT };
    await using response = await callOnce(server, call, [200], signal);
    return await readImportResponse(server, response, { ...meter, onPhase });
  });
  return attempts === 1 || options.dryRun ? response : withWarnings(response, repetitionWarnings(response.summary));
}

function withWarnings(
  { summary, ...response }: ImportResponse,
  more: ImportResponse['summary']['warnings'],
): ImportResponse {
  return { ...response, summary: { ...summary, warnings: [...more, ...summary.warnings] } };
}

/** True for an error after which a repeated request can continue the import. */
function isUnfinished(error: unknown): error is Error {
  return isConnectionLost(error) || placeUnavailable.is(error) || gatewayTimedOut.is(error);
}
