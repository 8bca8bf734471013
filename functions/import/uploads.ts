// Opens and finds uploads. An upload is a file that exceeds the size limit of requests, so the client sends it to the
// bucket for transfers.

import type { AuditedCall } from '../../shared/audit/audit.ts';
import type { Caller } from '../../shared/auth/authorise.ts';
import { uploadsUnsupported } from '../../shared/errors/errors.ts';
import type { TransferObject, Transfers, UploadRequest } from '../../shared/objectStorage/transfers.ts';
import { describeInstance } from '../../shared/store/instance.ts';
import type { Store } from '../../shared/store/store.ts';
import { findOwn, newTransferId, transferFacts } from '../transferCalls.ts';
import type { OpenedUpload } from './contract.ts';

interface UploadCall {
  readonly ports: { readonly transfers?: Transfers | undefined };
  readonly store: Store;
  readonly caller: Caller;
  readonly audited: AuditedCall;
  readonly signal: AbortSignal;
}

/**
 * Opens an upload of a file, which a later call of the same caller can import.
 * @throws IdentityError FAILED_PRECONDITION if the instance has no bucket for transfers
 */
export async function openUpload(
  { ports: { transfers }, store, caller, audited, signal }: UploadCall,
  { size, origin }: Omit<UploadRequest, 'facts'>,
): Promise<OpenedUpload> {
  audited.become('upload');
  if (transfers === undefined) throw uploadsUnsupported({ field: 'upload' });
  const facts = transferFacts(await describeInstance(store), caller);
  const id = newTransferId();
  await audited.begin({ target: `imports/${id}` });
  const { uri, expiresAt } = await transfers.openUpload(id, { facts, size, origin }, signal);
  return { upload: { id, uri, expiresAt: expiresAt.toISOString() } };
}

/**
 * Finds the uploaded file with this id. Only the caller who opened the upload can import it.
 * @throws IdentityError NOT_FOUND, PERMISSION_DENIED; FAILED_PRECONDITION if the instance has no bucket for transfers
 */
export async function findUpload(
  { ports: { transfers }, store, caller, signal }: UploadCall,
  id: string,
): Promise<TransferObject> {
  if (transfers === undefined) throw uploadsUnsupported({ field: 'data_orgs_upload' });
  return findOwn(transfers, 'imports', id, transferFacts(await describeInstance(store), caller), signal);
}
