// The interface of the bucket for transfers. Exports that are too large for a response, and imports that are too large
// for a request, use this bucket.

import type { PinnedObject, WrittenObject } from './objectStorage.ts';

/** The kinds of transfers in the bucket: files that exports wrote, and files that clients uploaded for imports. */
export type TransferKind = 'exports' | 'imports';

/**
 * The facts of a transfer, stored as metadata of its object. A client with an upload URI or a signed URL cannot change
 * these facts.
 */
export interface TransferFacts {
  readonly instanceId: string;
  /** The user whose call began the transfer: only that user may import or delete its object. */
  readonly userId: string;
}

/** A complete object in the bucket. `read` returns the bytes of this generation, or fails. */
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

export interface UploadRequest {
  readonly facts: TransferFacts;
  /** The number of bytes. The upload completes only with exactly this number. */
  readonly size: number;
  /** The origin of the page in the browser that sends the bytes. */
  readonly origin?: string | undefined;
}

/**
 * An instance's bucket for transfers, accessed with the function's own account. Objects expire after a day.
 * Every method throws an IdentityError with the bucket and, if a permission is missing, with the role to grant.
 */
export interface Transfers {
  /** Writes a new object `exports/<id>`. The object becomes visible only when it is complete. */
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
  delete(kind: TransferKind, id: string, generation: string, signal: AbortSignal): Promise<void>;
}
