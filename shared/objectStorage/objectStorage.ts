/** This value, instead of a service account, means the application default credentials of the process. */
export const DEFAULT_CREDENTIALS = 'applicationDefault';

/** An object in Cloud Storage and the service account that accesses it (specification 2.6). */
export interface ObjectLocation {
  readonly bucket: string;
  readonly path: string;
  /** The caller's service account. The command can also use the default credentials. */
  readonly account: ServiceAccount | typeof DEFAULT_CREDENTIALS;
}

/**
 * The fields that this service uses from the key file of a caller's service account. The service ignores all other
 * fields.
 */
export interface ServiceAccount {
  readonly clientEmail: string;
  readonly privateKey: string;
}

/** `generation` identifies the content of the written object. The content of a generation never changes. */
export interface WrittenObject {
  readonly bucket: string;
  readonly path: string;
  readonly generation: string;
  readonly size: number;
  /** The CRC32C of the content, in base64 as in Cloud Storage. */
  readonly crc32c: string;
}

/** One generation of an object, which can be read any number of times. */
export interface PinnedObject {
  readonly size: number;
  readonly generation: string;
  /**
   * Reads the bytes of the object in order. The checksum is known only after the last byte. If it is wrong, throws
   * then.
   * @throws IdentityError if the object cannot be read or its checksum is wrong; the signal's reason after an abort
   */
  read(signal: AbortSignal): AsyncIterable<Uint8Array>;
}

export interface ObjectStorage {
  /**
   * Writes a new object. Never overwrites an existing object. Readers can see the new object only when it is complete.
   * If `content` throws or `signal` aborts, cancels the upload and throws the reason.
   * @throws IdentityError that contains the URI of the object, if the bucket or a permission is missing, the key is
   * wrong or the object exists
   */
  write(location: ObjectLocation, content: AsyncIterable<Uint8Array>, signal: AbortSignal): Promise<WrittenObject>;
  /**
   * Finds the current generation of an object, so that all reads return the same content.
   * @throws IdentityError that contains the URI of the object, if the bucket, the object or a permission is
   * missing, or the key is wrong
   */
  pin(location: ObjectLocation, signal: AbortSignal): Promise<PinnedObject>;
}
