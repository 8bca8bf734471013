// The response of an export that is larger than a response may be.

import { onlyObjectWritten, responseTooLarge, rpcResponseTooLarge } from '../../shared/errors/errors.ts';
import { objectUri } from '../../shared/errors/storageErrors.ts';
import { isRpc, seeOther } from '../../shared/http/responses.ts';
import type { WrittenObject } from '../../shared/objectStorage/objectStorage.ts';
import type { TransferFacts, Transfers } from '../../shared/objectStorage/transfers.ts';
import { newTransferId } from '../transfers.ts';
import type { ExportProgress } from './auditFacts.ts';

/** A call whose file is larger than its response may be. */
interface LargeExport {
  readonly request: Request;
  readonly transfers: Transfers | undefined;
  /** Whose object it becomes. */
  readonly facts: TransferFacts;
  /** The limit of a response. */
  readonly limit: number;
  /** The object in the caller's bucket that already contains the same file. */
  readonly written: WrittenObject | undefined;
  readonly progress: ExportProgress;
  readonly signal: AbortSignal;
}

/**
 * Writes the whole file to the instance's bucket for transfers, and responds with its signed URL.
 * @throws IdentityError RESOURCE_EXHAUSTED to an RPC, which cannot follow; FAILED_PRECONDITION without the bucket
 */
export async function redirectToFile(
  { request, transfers, facts, limit, written, progress, signal }: LargeExport,
  file: AsyncIterable<Uint8Array>,
): Promise<Response> {
  if (transfers === undefined || isRpc(request.headers)) {
    if (written !== undefined)
      throw onlyObjectWritten({ object: objectUri(written), generation: written.generation, limit });
    throw transfers === undefined ? responseTooLarge({ limit }) : rpcResponseTooLarge({ limit });
  }
  const object = await transfers.write(newTransferId(), facts, file, signal);
  progress.transfer = object;
  const url = await transfers.downloadUrl(object, signal);
  return seeOther(url, { manifest: progress.export?.manifest, object });
}
