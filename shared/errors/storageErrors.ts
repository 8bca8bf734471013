// No text of these errors contains a credential or a message of Google's library.

import { defineError, RETRY } from './identityError.ts';

interface ObjectAddress {
  readonly bucket: string;
  readonly path: string;
}

export const objectUri = ({ bucket, path }: ObjectAddress) => `gs://${bucket}/${path}`;

export const bucketNotFound = defineError('INVALID_ARGUMENT', 'BUCKET_NOT_FOUND', {
  text: '{at}: the bucket {bucket} does not exist: check its name',
});

export const objectNotFound = defineError('NOT_FOUND', 'OBJECT_NOT_FOUND', {
  text: '{at}: object not found: check its path',
});

export const objectExists = defineError('ALREADY_EXISTS', 'OBJECT_EXISTS', {
  text: '{at}: the object exists and is never overwritten: choose another path',
});

/** `role` is Google's name of the missing role. */
export const objectForbidden = defineError('PERMISSION_DENIED', 'OBJECT_FORBIDDEN', {
  text: '{at}: grant the service account the role {role} on the bucket',
});

export const keyRejected = defineError('INVALID_ARGUMENT', 'SERVICE_ACCOUNT_KEY_REJECTED', {
  text: "{at}: Cloud Storage rejected the service account's key: create a new key",
});

export const objectEncoded = defineError('INVALID_ARGUMENT', 'OBJECT_ENCODED', {
  text: '{at}: unsupported content encoding: store the object uncompressed',
});

export const objectReplaced = defineError('ABORTED', 'OBJECT_REPLACED', {
  text: '{at}: the object was replaced or deleted during the import: upload the same file again before you retry, because a retry imports the object that it finds',
});

export const objectCorrupted = defineError('UNAVAILABLE', 'OBJECT_CORRUPTED', {
  text: '{at}: checksum mismatch',
  remedy: RETRY,
});

/** `name` is the path of the object in the instance's bucket for transfers. */
export const transferNotFound = defineError('NOT_FOUND', 'TRANSFER_NOT_FOUND', {
  text: '{name} does not exist: {problem}',
});

/** `owner` is the word `caller` or `instance`, because the object belongs to another caller or to another instance. */
export const transferForeign = defineError('PERMISSION_DENIED', 'TRANSFER_FOREIGN', {
  text: '{name} belongs to another {owner}: use the token and the instance that opened it, or open another upload',
});

export const storageRejected = defineError('INVALID_ARGUMENT', 'STORAGE_REJECTED', {
  text: "{at}: Cloud Storage rejected the request with status {status}: check the bucket's settings",
});

/** The instance has no access to its own bucket. Only the operator of the instance can change this. */
export const transfersForbidden = defineError('UNAVAILABLE', 'TRANSFERS_FORBIDDEN', {
  text: "{at}: the function's service account has no permission to use the bucket for transfers: grant the account the role Storage Object User on the bucket",
});

export const transferBucketMissing = defineError('UNAVAILABLE', 'TRANSFER_BUCKET_MISSING', {
  text: '{at}: the bucket {bucket} for transfers does not exist: create the bucket, or unset TRANSFER_BUCKET',
});

export const signingForbidden = defineError('UNAVAILABLE', 'SIGNING_FORBIDDEN', {
  text: "{at}: the function's service account has no permission to sign a URL: grant the account the role Service Account Token Creator on itself, and enable iamcredentials.googleapis.com in the project",
});

/** `failure` is the HTTP status of Google's response or, if the connection failed, an error code. */
export const signingFailed = defineError('UNAVAILABLE', 'SIGNING_FAILED', {
  text: '{at}: the IAM Credentials API did not sign the URL ({failure})',
  remedy: RETRY,
});

export const storageUnavailable = defineError('UNAVAILABLE', 'STORAGE_UNAVAILABLE', {
  text: '{at}: Cloud Storage is unavailable',
  remedy: RETRY,
});
