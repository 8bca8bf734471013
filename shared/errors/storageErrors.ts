// Errors of objects in Cloud Storage. No text contains any part of a credential or of the client library's messages.

import { defineError } from './identityError.ts';

interface ObjectAddress {
  readonly bucket: string;
  readonly path: string;
}

const uri = ({ bucket, path }: ObjectAddress) => `gs://${bucket}/${path}`;
const exampleAddress: ObjectAddress = { bucket: 'acme-exports', path: 'north.json' };

export const bucketNotFound = defineError('INVALID_ARGUMENT', 'BUCKET_NOT_FOUND', {
  text: (at: ObjectAddress) => `${uri(at)}: the bucket ${at.bucket} does not exist: check its name`,
  example: [exampleAddress],
});

export const objectNotFound = defineError('NOT_FOUND', 'OBJECT_NOT_FOUND', {
  text: (at: ObjectAddress) => `${uri(at)}: object not found: check its path`,
  example: [exampleAddress],
});

export const objectExists = defineError('ALREADY_EXISTS', 'OBJECT_EXISTS', {
  text: (at: ObjectAddress) => `${uri(at)}: the object exists and is never overwritten: choose another path`,
  example: [exampleAddress],
});

/** `role` is Google's name of the missing role. */
export const objectForbidden = defineError('PERMISSION_DENIED', 'OBJECT_FORBIDDEN', {
  text: (at: ObjectAddress, role: string) => `${uri(at)}: grant the service account the role ${role} on the bucket`,
  example: [exampleAddress, 'Storage Object Creator'],
});

export const keyRejected = defineError('INVALID_ARGUMENT', 'SERVICE_ACCOUNT_KEY_REJECTED', {
  text: (at: ObjectAddress) => `${uri(at)}: Cloud Storage rejected the service account's key: create a new key`,
  example: [exampleAddress],
});

export const objectEncoded = defineError('INVALID_ARGUMENT', 'OBJECT_ENCODED', {
  text: (at: ObjectAddress) => `${uri(at)}: unsupported content encoding: store the object uncompressed`,
  example: [exampleAddress],
});

export const objectReplaced = defineError('ABORTED', 'OBJECT_REPLACED', {
  text: (at: ObjectAddress) =>
    `${uri(at)}: the object was replaced or deleted during the import: upload the same file again before you retry, because a retry imports the object that it finds`,
  example: [exampleAddress],
});

export const objectCorrupted = defineError('UNAVAILABLE', 'OBJECT_CORRUPTED', {
  text: (at: ObjectAddress) => `${uri(at)}: checksum mismatch: retry the request`,
  example: [exampleAddress],
});

/** `status` is the HTTP status of Cloud Storage's response. */
export const storageRejected = defineError('INVALID_ARGUMENT', 'STORAGE_REJECTED', {
  text: (at: ObjectAddress, status: number, _cause: unknown) =>
    `${uri(at)}: Cloud Storage rejected the request with status ${status}: check the bucket's settings`,
  example: [exampleAddress, 400, undefined],
  carries: (_at, _status, cause) => ({ cause }),
});

export const storageUnavailable = defineError('UNAVAILABLE', 'STORAGE_UNAVAILABLE', {
  text: (at: ObjectAddress, _cause: unknown) => `${uri(at)}: Cloud Storage is unavailable: retry the request`,
  example: [exampleAddress, undefined],
  carries: (_at, cause) => ({ cause }),
});
