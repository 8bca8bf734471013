import { IdentityError } from '../../../shared/errors/identityError.ts';
import type { ObjectLocation, ObjectStorage } from '../../../shared/objectStorage/objectStorage.ts';
import type { ImportResponse } from '../contract.ts';
import { WholeReport } from './wholeReport.ts';

/**
 * Runs an import and writes its whole response to an object, without the limits of the lists. The upload starts before the
 * import, so that a location that cannot be written is an error before anything is imported. An object that cannot be
 * completed afterwards does not lose the response: `summary` says why.
 * @throws IdentityError naming the object, or the error of the import
 */
export async function importWithReport(
  objectStorage: ObjectStorage,
  location: ObjectLocation,
  run: (whole: WholeReport) => Promise<ImportResponse>,
  signal: AbortSignal,
): Promise<ImportResponse> {
  using whole = new WholeReport({ withIds: true });
  const started: { import?: Promise<ImportResponse> } = {};
  async function* content(): AsyncGenerator<Uint8Array> {
    started.import = run(whole);
    yield* whole.chunks(await started.import);
  }
  try {
    const report = await objectStorage.write(location, content(), signal);
    return withSummary(await started.import, { report });
  } catch (error) {
    if (started.import === undefined) throw error;
    // An aborted upload does not wait for its content. The import's own error, if any, is the more exact one.
    return withSummary(await started.import, { reportError: IdentityError.from(error).message });
  }
}

/** Nobody asked for this report, so it must not exhaust the memory that temporary files occupy in Cloud Functions. */
const MAX_BYTES_BESIDE = 100_000_000;

/**
 * Runs an import from an object, and writes the whole list of errors and warnings to another object, if the response
 * cannot list all of them. The account may lack the permission: then the response says so.
 * @param location the object beside the source
 */
export async function importWithReportBeside(
  objectStorage: ObjectStorage,
  location: ObjectLocation,
  run: (whole: WholeReport) => Promise<ImportResponse>,
  signal: AbortSignal,
): Promise<ImportResponse> {
  using whole = new WholeReport({ maxBytes: MAX_BYTES_BESIDE });
  const response = await run(whole);
  const { errorsOmitted, warningsOmitted } = response.summary;
  if (errorsOmitted === undefined && warningsOmitted === undefined) return response;
  try {
    const content = ReadableStream.from(whole.chunks(response));
    return withSummary(response, { report: await objectStorage.write(location, content, signal) });
  } catch (error) {
    return withSummary(response, { reportError: IdentityError.from(error).message });
  }
}

/** Returns the location of the report on an import from an object, which is unique to the request. */
export function reportBeside(source: ObjectLocation, requestId: string): ObjectLocation {
  const { bucket, path, account } = source;
  return { bucket, account, path: `${path}.report-${requestId}.json` };
}

function withSummary(response: ImportResponse | undefined, more: Partial<ImportResponse['summary']>): ImportResponse {
  if (response === undefined) throw new Error('the upload ended without reading its content');
  return { ...response, summary: { ...response.summary, ...more } };
}
