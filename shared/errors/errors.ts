import { IdentityError } from './identityError.ts';

// Every error that this service raises, with its code, id and text. Ids that ZITADEL knows are ZITADEL's (contract 6).

/** No route has this path (contract 6.6). */
export const routeNotFound = () => new IdentityError({ code: 'NOT_FOUND', text: 'Not Found' });

/** The route exists, but not with this method (contract 6.6). */
export const methodNotAllowed = () =>
  new IdentityError({ code: 'UNIMPLEMENTED', text: 'Method Not Allowed', httpStatus: 405 });

/** No RPC has this name, or its service is not served: gRPC's own code for it, where JSON has a 404. */
export const rpcNotFound = () => new IdentityError({ code: 'UNIMPLEMENTED', text: 'unknown service or method' });

/** The body's content type is none that the route can read. */
export const mediaTypeUnsupported = (readable: readonly string[]) =>
  new IdentityError({
    code: 'INVALID_ARGUMENT',
    httpStatus: 415,
    text: `the Content-Type of the request is not supported: send one of ${readable.join(', ')}`,
  });

/** No Authorization header (contract 6.5). */
export const authHeaderMissing = () => new IdentityError({ code: 'UNAUTHENTICATED', text: 'auth header missing' });

/** The Authorization header is not `Bearer <token>` (contract 6.5). */
export const authHeaderInvalid = () =>
  new IdentityError({ code: 'UNAUTHENTICATED', id: 'AUTH-toLo1', text: 'invalid auth header' });

/** The token is unknown, malformed, expired or removed, or its user may not use it (contract 6.5). */
export const tokenInvalid = () =>
  new IdentityError({ code: 'UNAUTHENTICATED', id: 'AUTH-7fs1e', text: 'Errors.Token.Invalid' });

/** The caller may not use the operation (contract 6.5). */
export const operationDenied = () =>
  new IdentityError({ code: 'PERMISSION_DENIED', id: 'AUTH-5mWD2', text: 'No matching permissions found' });

/** The caller may not change the user, if there is one (interface 4.1, contract 6.3). */
export const userDenied = () =>
  new IdentityError({ code: 'PERMISSION_DENIED', id: 'AUTH-AWfge', text: 'No matching permissions found' });

/** No user has this id (contract 6.3). */
export const userNotFound = () =>
  new IdentityError({ code: 'NOT_FOUND', id: 'COMMAND-4g3xq', text: 'Errors.NotFound' });

/** The user has no OTP e-mail factor (contract 6.3). */
export const otpEmailNotSet = () =>
  new IdentityError({
    code: 'NOT_FOUND',
    id: 'COMMAND-b312D',
    text: "Multifactor OTP (OneTimePassword) doesn't exist",
  });

/** The user id of the path has a wrong length (contract 6.1). */
export const userIdLength = () =>
  new IdentityError({
    code: 'INVALID_ARGUMENT',
    text: 'invalid RemoveOTPEmailRequest.UserId: value length must be between 1 and 200 runes, inclusive',
  });

/** One fault in a request: where it is and what is wrong with it. */
export interface FieldViolation {
  readonly field: string;
  readonly description: string;
}

/**
 * The request is not as the contract says; every violation found is named.
 * @param message how ZITADEL says the first of them, where it does
 */
export function invalidRequest(violations: readonly FieldViolation[], message?: string): IdentityError {
  const [first] = violations;
  const text = message ?? (first === undefined ? 'invalid request' : describe(first));
  return new IdentityError({
    code: 'INVALID_ARGUMENT',
    text,
    details: [{ '@type': 'type.googleapis.com/google.rpc.BadRequest', fieldViolations: violations }],
  });
}

function describe({ field, description }: FieldViolation): string {
  return field === '' ? description : `${field}: ${description}`;
}

/** The body as a whole is not JSON. */
export const bodyInvalid = (reason: string) => invalidRequest([{ field: '', description: `the body: ${reason}` }]);

/** The body is JSON, but no object. */
export const bodyNoObject = () => invalidRequest([{ field: '', description: 'the body must be a JSON object' }]);

/** The body is larger than the operation takes; `advice` says what to do instead. */
export const requestTooLarge = (limit: number, advice?: string) =>
  new IdentityError({
    code: 'RESOURCE_EXHAUSTED',
    httpStatus: 413,
    text: `the request is larger than ${limit} bytes${advice === undefined ? '' : `: ${advice}`}`,
  });

/** The call's time is over. */
export const deadlineExceeded = (details: IdentityError['details'] = []) =>
  new IdentityError({ code: 'DEADLINE_EXCEEDED', text: 'context deadline exceeded', details });

/** The caller has gone away. */
export const cancelled = () => new IdentityError({ code: 'CANCELLED', text: 'context canceled' });

/** The process is about to end. */
export const shuttingDown = () =>
  new IdentityError({ code: 'UNAVAILABLE', text: 'the server is shutting down: send the request again' });

/** What arrived is not HTTP, or its target is not a path of this server. */
export const httpMalformed = () => new IdentityError({ code: 'INVALID_ARGUMENT', text: 'malformed HTTP request' });

/** The request's headers are larger than the server reads. */
export const httpHeadersTooLarge = () =>
  new IdentityError({ code: 'RESOURCE_EXHAUSTED', httpStatus: 431, text: 'the request headers are too large' });

/** The request's headers did not arrive in time. */
export const httpHeadersTimeout = () =>
  new IdentityError({ code: 'DEADLINE_EXCEEDED', httpStatus: 408, text: 'the request headers took too long' });

/** An `Expect` header other than `100-continue`. */
export const httpExpectationFailed = () =>
  new IdentityError({ code: 'INVALID_ARGUMENT', httpStatus: 417, text: 'the Expect header may only say 100-continue' });

/** The path has a `%` that starts no UTF-8 escape. */
export const pathMalformed = () =>
  new IdentityError({ code: 'INVALID_ARGUMENT', text: 'the path is not percent-encoded UTF-8' });

/** The body's coding is none that this service can undo. */
export const encodingUnsupported = (known: readonly string[]) =>
  new IdentityError({
    code: 'INVALID_ARGUMENT',
    httpStatus: 415,
    text: `the Content-Encoding of the request is not supported: send the body with one of ${known.join(', ')}, or without that header`,
  });

/** The body is not what its Content-Encoding says, or ends early. */
export const bodyCorrupted = (coding: string, cause: unknown) =>
  new IdentityError({ code: 'INVALID_ARGUMENT', text: `the request body is not valid ${coding}`, cause });

/** An output of ZITADEL's that this service does not have. */
export const outputUnsupported = (field: string) =>
  new IdentityError({
    code: 'UNIMPLEMENTED',
    text: `${field} is not supported: give gcs_output, or set response_output to true`,
  });

/** A source of ZITADEL's that this service does not have. */
export const sourceUnsupported = (field: string) =>
  new IdentityError({
    code: 'UNIMPLEMENTED',
    text: `${field} is not supported: send the file in data_orgsv1, or put it into a bucket and name it in data_orgsv1_gcs`,
  });

/** The export does not fit into a response of this deployment. */
export const responseTooLarge = (limit: number) =>
  new IdentityError({
    code: 'FAILED_PRECONDITION',
    text: `the export is larger than ${limit} bytes, which is what a response can carry here: give gcs_output instead of response_output`,
  });

/** `identity init` was run before on this instance. */
export const instanceInitialised = () =>
  new IdentityError({
    code: 'FAILED_PRECONDITION',
    text: 'this instance is initialised already: make further tokens with `identity pat create`',
  });

/** An id, given to the command, that no user has. */
export const userUnknown = (userId: string) =>
  new IdentityError({ code: 'NOT_FOUND', text: `there is no user ${userId}` });

/** An id, given to the command, that no organisation has. */
export const organisationUnknown = (orgId: string) =>
  new IdentityError({ code: 'NOT_FOUND', text: `there is no organisation ${orgId}` });

/** A person where a service user is asked for. */
export const notServiceUser = (userId: string) =>
  new IdentityError({ code: 'FAILED_PRECONDITION', text: `${userId} is a person, not a service user` });

/** Another user has the name. */
export const userNameTaken = (name: string) =>
  new IdentityError({ code: 'ALREADY_EXISTS', text: `the user name ${name} is taken` });

/** The user does not hold the role that is to be taken away. */
export const roleNotHeld = (userId: string, role: string) =>
  new IdentityError({ code: 'NOT_FOUND', text: `${userId} does not hold ${role}` });

/** The role is none that can be held there. */
export const roleUnknown = (role: string, place: string, fitting: readonly string[]) =>
  new IdentityError({
    code: 'INVALID_ARGUMENT',
    text: `${role} is no role on ${place}: choose one of ${fitting.join(', ')}`,
  });

/** The user has the OTP e-mail factor already (contract 8.4). */
export const otpEmailSet = () =>
  new IdentityError({
    code: 'ALREADY_EXISTS',
    id: 'COMMAND-MKL2s',
    text: 'Multifactor OTP (OneTimePassword) is already set up',
  });

/** The database could not be reached, or stayed locked, for as long as this service waits for it. */
export const storeUnavailable = (cause: unknown) =>
  new IdentityError({ code: 'UNAVAILABLE', text: 'the database is not available: send the request again', cause });

/** A transaction lost against other writers as often as it was tried. */
export const storeContention = (cause: unknown) =>
  new IdentityError({
    code: 'ABORTED',
    text: 'the same records are being changed by others: send the request again',
    cause,
  });

/** The database refused an operation; `reason` is its status in a word or a few, for whoever runs this service. */
export const storeFailed = (reason: string, cause: unknown) =>
  new IdentityError({ code: 'INTERNAL', text: `the database failed: ${reason}`, cause });
