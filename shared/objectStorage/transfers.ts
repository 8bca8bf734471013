// The interface of the bucket for transfers. Exports that exceed a response, and uploads that exceed a request, pass
// through it instead of through the functions.

import type { PinnedObject, WrittenObject } from './objectStorage.ts';

/** The kinds of transfers in the bucket: files that exports wrote, and files that clients uploaded for imports. */
export type TransferKind = 'exports' | 'imports';

/**
 * The facts of a transfer, stored as metadata of its object. A client with an upload URI or a signed URL cannot change
 * them.
 */
export interface TransferFacts {
  readonly instanceId: string;
  /** The user whose call began the transfer: only that user may import or delete its object. */
  readonly userId: string;
}

/** A complete object in the bucket. Its `read` returns the bytes of its generation or fails. */
export interface TransferObject extends PinnedObject {
  readonly bucket: string;
  readonly path: string;
  readonly facts: TransferFacts;
}

/** A resumable upload, to which a client sends bytes. */
interface TransferUpload {
  /** The address to send the bytes to. It authorises the upload: neither logs nor errors may contain it. */
  readonly uri: string;
  readonly expiresAt: Date;
}

/** A new upload. */
export interface UploadRequest {
  readonly facts: TransferFacts;
  /** The number of bytes. The upload completes only with exactly this number. */
  readonly size: number;
  /** The origin of the page in the browser that sends the bytes. */
  readonly origin?: string | undefined;
}

/**
 * An instance's bucket for transfers, accessed with the function's own account. Objects expire after a day.
 * Every method throws an IdentityError that names the bucket and, for a missing permission, the role.
 */
export interface Transfers {
  /** Writes a new object `exports/<id>`. It becomes visible only when it is complete. */
  write(
    id: string,
    facts: TransferFacts,
    content: AsyncIterable<Uint8Array>,
    signal: AbortSignal,
  ): Promise<WrittenObject>;
  /** Signs a URL of an object's generation, from which anyone can start a download within ten minutes. */
  downloadUrl(object: WrittenObject, signal: AbortSignal): Promise<string>;
  /** Opens a resumable upload of `imports/<id>`. */
  openUpload(id: string, upload: UploadRequest, signal: AbortSignal): Promise<TransferUpload>;
  /** Finds a complete object; returns undefined for an unfinished, expired or deleted object. */
  find(kind: TransferKind, id: string, signal: AbortSignal): Promise<TransferObject | undefined>;
  /** Deletes a generation of an object. */
  delete(kind: TransferKind, id: string, generation: string, signal: AbortSignal): Promise<void>;
}
