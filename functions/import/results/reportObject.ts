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
  using whole = new WholeReport();
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

function withSummary(response: ImportResponse | undefined, more: Partial<ImportResponse['summary']>): ImportResponse {
  if (response === undefined) throw new Error('the upload ended without reading its content');
  return { ...response, summary: { ...response.summary, ...more } };
}
