/** An object in Cloud Storage, and the service account to reach it with (specification 2.6). */
export interface ObjectLocation {
  readonly bucket: string;
  readonly path: string;
  readonly account: ServiceAccount;
}

/** What is taken of a caller's credentials file: no other field of it has any effect. */
export interface ServiceAccount {
  readonly clientEmail: string;
  readonly privateKey: string;
}

/** An object as it was written: its generation never changes. */
export interface WrittenObject {
  readonly bucket: string;
  readonly path: string;
  readonly generation: string;
  readonly size: number;
  /** CRC32C, base64 of four bytes, as Cloud Storage gives it. */
  readonly crc32c: string;
}

/** One generation of an object, which can be read any number of times. */
export interface PinnedObject {
  readonly size: number;
  readonly generation: string;
  /** The object's bytes in order; fails at the end when they do not have the object's CRC32C. */
  read(signal: AbortSignal): AsyncIterable<Uint8Array>;
}

/** Cloud Storage, with credentials that each call brings. */
export interface ObjectStorage {
  /**
   * Writes a new object; nothing is visible before all of it is there, and an existing object is never overwritten.
   * When `content` throws or `signal` aborts, nothing is left behind and the error is passed on.
   * @throws IdentityError naming the bucket and object: missing bucket, no permission, wrong key, object exists
   */
  write(location: ObjectLocation, content: AsyncIterable<Uint8Array>, signal: AbortSignal): Promise<WrittenObject>;
  /**
   * Finds the object's present generation.
   * @throws IdentityError naming the bucket and object: missing bucket or object, no permission, wrong key
   */
  pin(location: ObjectLocation, signal: AbortSignal): Promise<PinnedObject>;
}
