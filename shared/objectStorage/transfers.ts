// The interface of the bucket for transfers. A transfer is an export that is too large for a response, or an import
// that is too large for a request.

import type { PinnedObject, WrittenObject } from './objectStorage.ts';

/** The kinds of objects in the bucket: `exports` are written by exports, `imports` are uploaded by clients. */
export type TransferKind = 'exports' | 'imports';

/**
 * The facts of a transfer, which are stored in the metadata of its object. A client that has an upload URI or a signed
 * URL cannot change these facts.
 */
export interface TransferFacts {
  readonly instanceId: string;
  /** The user who made the call that began the transfer. No other user may import or delete the object. */
  readonly userId: string;
}

/** `read` returns the bytes of the generation in this value. If the object was replaced since, `read` fails. */
export interface TransferObject extends PinnedObject {
  readonly bucket: string;
  readonly path: string;
  readonly facts: TransferFacts;
}

interface TransferUpload {
  /**
   * The URI to which the client sends the bytes. Everyone who has this URI can upload, so neither logs nor errors may
   * contain it.
   */
  readonly uri: string;
  readonly expiresAt: Date;
}

export interface UploadRequest {
  readonly facts: TransferFacts;
  /** The number of bytes that the client must send. With any other number, the upload cannot complete. */
  readonly size: number;
  /** The origin of the web page that sends the bytes, if a browser sends them. */
  readonly origin?: string | undefined;
}

/**
 * The bucket of an instance for transfers. The function's own account accesses it. Objects expire after a day. Every
 * method throws IdentityErrors that contain the bucket. If a permission is missing, the error contains the role to
 * grant.
 */
export interface Transfers {
  /** Writes a new object with the name `exports/<id>`. Readers can see the object only when it is complete. */
  write(
    id: string,
    facts: TransferFacts,
    content: AsyncIterable<Uint8Array>,
    signal: AbortSignal,
  ): Promise<WrittenObject>;
  /** Signs a URL of one generation of an object. Anyone who has the URL can start a download within ten minutes. */
  downloadUrl(object: WrittenObject, signal: AbortSignal): Promise<string>;
  /** Starts a resumable upload of a new object with the name `imports/<id>`. */
  openUpload(id: string, upload: UploadRequest, signal: AbortSignal): Promise<TransferUpload>;
  /** Finds a complete object. Returns undefined if the object is unfinished, expired or deleted. */
  find(kind: TransferKind, id: string, signal: AbortSignal): Promise<TransferObject | undefined>;
  delete(kind: TransferKind, id: string, generation: string, signal: AbortSignal): Promise<void>;
}
