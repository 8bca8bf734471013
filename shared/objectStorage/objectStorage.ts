// The interface of an object storage.

/** The value for the application default credentials of the process, instead of a service account. */
export const DEFAULT_CREDENTIALS = 'applicationDefault';

/** An object in Cloud Storage and the service account that accesses it (specification 2.6). */
export interface ObjectLocation {
  readonly bucket: string;
  readonly path: string;
  /** The caller's service account. The command can use the default credentials instead. */
  readonly account: ServiceAccount | typeof DEFAULT_CREDENTIALS;
}

/** A caller's service account: the only fields of its key file that this service uses. */
export interface ServiceAccount {
  readonly clientEmail: string;
  readonly privateKey: string;
}

/** A written object. The content of this generation never changes. */
export interface WrittenObject {
  readonly bucket: string;
  readonly path: string;
  readonly generation: string;
  readonly size: number;
  /** CRC32C in Cloud Storage's encoding: base64 of four bytes. */
  readonly crc32c: string;
}

/** One generation of an object, readable any number of times. */
export interface PinnedObject {
  readonly size: number;
  readonly generation: string;
  /**
   * Reads the object's bytes in order.
   * @throws IdentityError with the object, after the last byte for a checksum mismatch; the signal's reason
   */
  read(signal: AbortSignal): AsyncIterable<Uint8Array>;
}

/** Access to Cloud Storage; each call has its own credentials. */
export interface ObjectStorage {
  /**
   * Writes a new object. The object becomes visible only when it is complete, and never overwrites an existing object.
   * If `content` throws or `signal` aborts, cancels the upload and rethrows the reason.
   * @throws IdentityError with the bucket and the object, for a missing bucket, a missing permission, a wrong key or an
   * existing object
   */
  write(location: ObjectLocation, content: AsyncIterable<Uint8Array>, signal: AbortSignal): Promise<WrittenObject>;
  /**
   * Pins the object's current generation.
   * @throws IdentityError with the bucket and the object, if one of them is missing, the account has no permission or
   * the key is wrong
   */
  pin(location: ObjectLocation, signal: AbortSignal): Promise<PinnedObject>;
}
