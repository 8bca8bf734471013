import {
  onlyObjectWritten,
  redirectionFailed,
  responseTooLarge,
  rpcResponseTooLarge,
} from '../../shared/errors/errors.ts';
import { IdentityError } from '../../shared/errors/identityError.ts';
import { objectUri } from '../../shared/errors/storageErrors.ts';
import { isRpc, seeOther } from '../../shared/http/responses.ts';
import { log } from '../../shared/log.ts';
import type { WrittenObject } from '../../shared/objectStorage/objectStorage.ts';
import type { TransferFacts, Transfers } from '../../shared/objectStorage/transfers.ts';
import { newTransferId } from '../transferCalls.ts';
import type { ExportProgress } from './auditFacts.ts';

interface LargeExport {
  readonly request: Request;
  readonly transfers: Transfers | undefined;
  readonly facts: TransferFacts;
  /** The greatest size of a response in bytes. */
  readonly limit: number;
  /** The object in the caller's bucket to which this export has already written the file. */
  readonly written: WrittenObject | undefined;
  readonly progress: ExportProgress;
  readonly signal: AbortSignal;
}

/**
 * Writes the whole file to the instance's bucket for transfers, and redirects the client to the file's signed URL.
 * Deletes the file if the call fails afterwards.
 * @param end ends the call in the audit trail; called before the response is returned
 * @throws IdentityError RESOURCE_EXHAUSTED for an RPC, which cannot redirect; FAILED_PRECONDITION if the instance has
 * no bucket for transfers
 */
export async function redirectToFile(
  { request, transfers, facts, limit, written, progress, signal }: LargeExport,
  file: AsyncIterable<Uint8Array>,
  end: () => Promise<void>,
): Promise<Response> {
  if (transfers === undefined || isRpc(request.headers)) {
    if (written !== undefined)
      throw onlyObjectWritten({ object: objectUri(written), generation: written.generation, limit });
    throw transfers === undefined ? responseTooLarge({ limit }) : rpcResponseTooLarge({ limit });
  }
  try {
    const id = newTransferId();
    const object = await transfers.write(id, facts, file, signal);
    progress.transfer = object;
    try {
      const url = await transfers.downloadUrl(object, signal);
      await end();
      return seeOther(url, { manifest: progress.export?.manifest, object });
    } catch (error) {
      await discard(transfers, id, object);
      throw error;
    }
  } catch (error) {
    throw written === undefined || signal.aborted ? error : namingObject(error, written);
  }
}

/** The time limit of the deletion, which may begin after the call has ended. */
const DISCARD_MS = 10_000;

/** Deletes a file whose address was not sent to the client. If this fails, the bucket deletes the file after a day. */
async function discard(transfers: Transfers, id: string, object: WrittenObject): Promise<void> {
  try {
    await transfers.delete('exports', id, object.generation, AbortSignal.timeout(DISCARD_MS));
  } catch (error) {
    log.warn({ object: objectUri(object), stack_trace: error }, 'the file of a failed export was not deleted');
  }
}

function namingObject(reason: unknown, written: WrittenObject): IdentityError {
  const error = IdentityError.from(reason);
  const { generation } = written;
  return redirectionFailed({ object: objectUri(written), generation, problem: error.text }, { cause: error });
}
