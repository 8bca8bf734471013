import type { ServerResponse } from 'node:http';

/** An error that Cloud Storage would answer with. */
export class GoogleError extends Error {
  override readonly name = 'GoogleError';
  readonly status: number;
  readonly reason: string;

  constructor(status: number, reason: string, message: string) {
    super(message);
    this.status = status;
    this.reason = reason;
  }
}

/** The request cannot be understood, or its checksum does not fit. */
export const invalid = (message: string) => new GoogleError(400, 'invalid', message);

/** The token is missing, wrong, expired, or of an unknown account. */
export const unauthenticated = () => new GoogleError(401, 'authError', 'Invalid Credentials');

/** The bucket is not one of those that are configured. */
export const noSuchBucket = () => new GoogleError(404, 'notFound', 'The specified bucket does not exist.');

/** There is no such object, or not in that generation. */
export const noSuchObject = (bucket: string, name: string) =>
  new GoogleError(404, 'notFound', `No such object: ${bucket}/${name}`);

/** The account lacks a permission. */
export const forbidden = (email: string, permission: string) =>
  new GoogleError(
    403,
    'forbidden',
    `${email} does not have ${permission} access to the Google Cloud Storage object. Permission '${permission}' denied on resource (or it may not exist).`,
  );

/** The token's scope does not cover what is asked. */
export const insufficientScope = () =>
  new GoogleError(403, 'insufficientPermissions', 'Request had insufficient authentication scopes.');

/** A precondition does not hold. */
export const conditionNotMet = () =>
  new GoogleError(412, 'conditionNotMet', 'At least one of the pre-conditions you specified did not hold.');

/** There is no such path or method. */
export const notImplemented = () => new GoogleError(404, 'notFound', 'Not Found');

/** Cloud Storage has this kind of upload, the stand-in does not. */
export const uploadNotImplemented = (uploadType: string) =>
  new GoogleError(501, 'notImplemented', `uploadType=${uploadType} is not implemented here: use uploadType=resumable`);

/** No byte of the object is in the range. */
export const rangeNotSatisfiable = () =>
  new GoogleError(416, 'requestedRangeNotSatisfiable', 'Request range not satisfiable');

/** Answers with an error in Google's shape; what is not a GoogleError is a 500. */
export function sendError(response: ServerResponse, error: unknown): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const { status, reason, message } =
    error instanceof GoogleError ? error : new GoogleError(500, 'backendError', 'Internal Server Error');
  const body = { error: { code: status, message, errors: [{ message, domain: 'global', reason }] } };
  response.writeHead(status, { 'content-type': 'application/json; charset=UTF-8' }).end(JSON.stringify(body));
}
