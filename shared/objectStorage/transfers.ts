// The interface of the bucket through which bytes that exceed a request or a response pass next to the functions.

import type { PinnedObject, WrittenObject } from './objectStorage.ts';

/** What the bucket keeps for a transfer: a file that an export wrote, or a file that a client uploads for an import. */
export type TransferKind = 'exports' | 'imports';

/** The facts of a transfer, stored as metadata of its object. Neither an upload URI nor a signed URL can change them. */
export interface TransferFacts {
  readonly instanceId: string;
  /** The user whose call began the transfer: only that user may import or delete its object. */
  readonly userId: string;
}

/** A complete object of the bucket. Its `read` returns the bytes of its generation or fails. */
export interface TransferObject extends PinnedObject {
  readonly bucket: string;
  readonly path: string;
  readonly facts: TransferFacts;
}

/** A resumable upload that a client can send bytes to. */
interface TransferUpload {
  /** The address to send the bytes to. It authorises the upload: neither logs nor errors may contain it. */
  readonly uri: string;
  readonly expiresAt: Date;
}

/** A new upload. */
export interface UploadRequest {
  readonly facts: TransferFacts;
  /** The number of bytes; an upload of another number does not complete. */
  readonly size: number;
  /** The origin of the browser's page that sends the bytes. */
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
  /** Signs a URL of an object's generation, at which anyone can start a download within ten minutes. */
  downloadUrl(object: WrittenObject, signal: AbortSignal): Promise<string>;
  /** Opens a resumable upload of `imports/<id>`. */
  openUpload(id: string, upload: UploadRequest, signal: AbortSignal): Promise<TransferUpload>;
  /** Finds a complete object; an unfinished, expired or deleted object is undefined. */
  find(kind: TransferKind, id: string, signal: AbortSignal): Promise<TransferObject | undefined>;
  /** Deletes a generation of an object. */
  delete(kind: TransferKind, id: string, generation: string, signal: AbortSignal): Promise<void>;
}
