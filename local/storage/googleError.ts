import type { ServerResponse } from 'node:http';

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

export const invalid = (message: string) => new GoogleError(400, 'invalid', message);

export const unauthenticated = () => new GoogleError(401, 'authError', 'Invalid Credentials');

export const insufficientScopes = () =>
  new GoogleError(403, 'insufficientPermissions', 'Request had insufficient authentication scopes.');

export const forbidden = (permission: string) =>
  new GoogleError(403, 'forbidden', `Permission '${permission}' denied on resource (or it may not exist).`);

export const signatureMismatch = () =>
  new GoogleError(
    403,
    'SignatureDoesNotMatch',
    'Access denied. The request signature we calculated does not match the signature you provided.',
  );

export const expiredUrl = () => new GoogleError(400, 'ExpiredToken', 'The provided token has expired.');

export const noSuchBucket = () => new GoogleError(404, 'notFound', 'The specified bucket does not exist.');

export const noSuchObject = (bucket: string, name: string) =>
  new GoogleError(404, 'notFound', `No such object: ${bucket}/${name}`);

export const conditionNotMet = () =>
  new GoogleError(412, 'conditionNotMet', 'At least one of the pre-conditions you specified did not hold.');

export const notImplemented = () => new GoogleError(404, 'notFound', 'Not Found');

export const uploadNotImplemented = (uploadType: string) =>
  new GoogleError(501, 'notImplemented', `uploadType=${uploadType} is not implemented here: use uploadType=resumable`);

export const rangeNotSatisfiable = () =>
  new GoogleError(416, 'requestedRangeNotSatisfiable', 'Request range not satisfiable');

/**
 * Sends an error as Google does. Every error except a GoogleError is sent as status 500.
 * @param shape `xml` for the response to a request with a signed URL
 */
export function sendError(response: ServerResponse, error: unknown, shape: 'json' | 'xml' = 'json'): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const { status, reason, message } =
    error instanceof GoogleError ? error : new GoogleError(500, 'backendError', 'Internal Server Error');
  if (shape === 'xml') {
    response.writeHead(status, { 'content-type': 'application/xml; charset=UTF-8' });
    response.end(
      `<?xml version='1.0' encoding='UTF-8'?><Error><Code>${reason}</Code><Message>${message}</Message></Error>`,
    );
    return;
  }
  const body = { error: { code: status, message, errors: [{ message, domain: 'global', reason }] } };
  sendJson(response, status, body);
}

export function sendJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json; charset=UTF-8' }).end(JSON.stringify(body));
}
