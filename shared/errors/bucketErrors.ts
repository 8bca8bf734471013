import { IdentityError } from './identityError.ts';

// What can go wrong with an object in Cloud Storage. Every text names the object; none carries anything of a credential
// or of what the client library says.

/** Where an object is. */
interface Place {
  readonly bucket: string;
  readonly path: string;
}

const uri = ({ bucket, path }: Place) => `gs://${bucket}/${path}`;

/** The bucket does not exist. */
export const bucketNotFound = (place: Place) =>
  new IdentityError({ code: 'INVALID_ARGUMENT', text: `${uri(place)}: the bucket ${place.bucket} does not exist` });

/** The bucket has no such object. */
export const objectNotFound = (place: Place) =>
  new IdentityError({ code: 'NOT_FOUND', text: `${uri(place)}: there is no such object` });

/** An object is there already; none is ever overwritten. */
export const objectExists = (place: Place) =>
  new IdentityError({
    code: 'ALREADY_EXISTS',
    text: `${uri(place)}: the object exists and is not overwritten: choose another path`,
  });

/** The service account lacks a role. `role` is Google's name of the one that it needs. */
export const objectForbidden = (place: Place, role: string) =>
  new IdentityError({
    code: 'PERMISSION_DENIED',
    text: `${uri(place)}: the service account needs the role ${role} on the bucket`,
  });

/** Cloud Storage does not take the key: it was removed, belongs to another account, or the account is disabled. */
export const keyRefused = (place: Place) =>
  new IdentityError({
    code: 'INVALID_ARGUMENT',
    text: `${uri(place)}: Cloud Storage refused the key for the service account`,
  });

/** The object is stored compressed, so its bytes are not those of the document. */
export const objectEncoded = (place: Place) =>
  new IdentityError({
    code: 'INVALID_ARGUMENT',
    text: `${uri(place)}: the object has a content encoding: store it uncompressed`,
  });

/** The pinned generation has gone while it was in use. */
export const objectReplaced = (place: Place) =>
  new IdentityError({
    code: 'ABORTED',
    text: `${uri(place)}: the object was replaced or removed while it was read: send the request again`,
  });

/** The bytes that arrived are not those that were sent. */
export const objectCorrupted = (place: Place) =>
  new IdentityError({
    code: 'UNAVAILABLE',
    text: `${uri(place)}: the bytes do not have the checksum that they should have: send the request again`,
  });

/** Cloud Storage does not take the request for another reason. `status` is its HTTP status. */
export const storageRefused = (place: Place, status: number, cause: Error) =>
  new IdentityError({
    code: 'INVALID_ARGUMENT',
    text: `${uri(place)}: Cloud Storage refused the request with status ${status}`,
    cause,
  });

/** Cloud Storage cannot be reached, or not for now. */
export const storageUnavailable = (place: Place, cause: Error) =>
  new IdentityError({
    code: 'UNAVAILABLE',
    text: `${uri(place)}: Cloud Storage does not answer: send the request again`,
    cause,
  });
