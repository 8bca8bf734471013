import { defineError, type ErrorDetail, shortenedText } from './identityError.ts';

// Errors of the operations. Ids and the texts of errors with an id are ZITADEL's (zitadel 6).

export const authHeaderMissing = defineError('UNAUTHENTICATED', 'AUTH_HEADER_MISSING', {
  text: 'auth header missing',
  isZitadels: true,
  when: 'The request has no `Authorization` header.',
  remedy: 'Send `Authorization: Bearer TOKEN` with a personal access token.',
});

export const authHeaderInvalid = defineError('UNAUTHENTICATED', 'AUTH_HEADER_INVALID', {
  id: 'AUTH-toLo1',
  text: 'invalid auth header',
  when: 'The `Authorization` header does not start with `Bearer` and a space; upper and lower case matter.',
  remedy: 'Send `Authorization: Bearer TOKEN` with a personal access token.',
});

export const tokenInvalid = defineError('UNAUTHENTICATED', 'TOKEN_INVALID', {
  id: 'AUTH-7fs1e',
  text: 'Errors.Token.Invalid',
  when: 'The token is malformed, unknown, expired or revoked, or its user is inactive, locked or deleted.',
  remedy: 'Create a token on this instance with `identity pat create`; tokens of ZITADEL are not valid here.',
});

// ZITADEL has no error for this case: people of an inactive organisation can log in there (zitadel 9.4).
export const organisationInactive = defineError('PERMISSION_DENIED', 'ORGANISATION_INACTIVE', {
  text: "the organisation of the token's user is inactive or removed: use a token of an active organisation's user",
  when: "The token is valid, but its user's organisation is in the state `ORG_STATE_INACTIVE` or `ORG_STATE_REMOVED`.",
  remedy: "Use a token of another organisation's user. An import with `on_conflict` `overwrite` can activate this one.",
});

export const personDenied = defineError('PERMISSION_DENIED', 'PERSON_DENIED', {
  text: "the token is a person's: exports and imports need the token of a service user that holds IAM_OWNER",
  when: 'A person who holds IAM_OWNER calls an export or import.',
  remedy: 'Create a service user with `identity service-user create`, grant it IAM_OWNER, and use its token.',
});

export const tokenForOtherOperation = defineError('PERMISSION_DENIED', 'TOKEN_FOR_OTHER_OPERATION', {
  text: (only: readonly string[], requested: string) =>
    `the token is valid for ${only.join(', ')} only: use one that is valid for ${requested}`,
  example: [['import'], 'export'],
  when: 'The token was created with `--only`, and the request needs another operation.',
  remedy: 'Use another token, or create one with `identity pat create`.',
});

export const organisationsExist = defineError('ALREADY_EXISTS', 'ORGANISATIONS_EXIST', {
  text: (orgIds: readonly string[]) =>
    `new_orgs_only: ${orgIds.length === 1 ? 'an organisation of the file exists' : `${orgIds.length} organisations of the file exist`} already (${orgIds.slice(0, 10).join(', ')}${orgIds.length > 10 ? ', …' : ''}): leave out what exists; if an interrupted call of this import created it, repeat the call without new_orgs_only`,
  example: [['310716089541007']],
  when: 'An import with `new_orgs_only` has an organisation that exists. Nothing was written, unless another request created the organisation at the same time.',
  remedy:
    'Leave the organisations out with `excluded_org_ids`. After an interrupted call, which may have created them, repeat the call without `new_orgs_only`.',
});

export const operationDenied = defineError('PERMISSION_DENIED', 'OPERATION_DENIED', {
  id: 'AUTH-5mWD2',
  text: 'No matching permissions found',
  when: 'The caller of an export or import does not hold IAM_OWNER.',
  remedy: 'Use the token of a service user that holds IAM_OWNER, or grant it with `identity member add`.',
});

// Also thrown for a user that does not exist, so that callers cannot probe for ids.
export const userDenied = defineError('PERMISSION_DENIED', 'USER_DENIED', {
  id: 'AUTH-AWfge',
  text: 'No matching permissions found',
  when: 'The caller may not read or change this user, or there is no such user and the caller may not read or change any.',
  remedy: "Use the user's own token, or one with `user.read` or `user.write` there, such as an ORG_OWNER's.",
});

export const userNotFound = defineError('NOT_FOUND', 'USER_NOT_FOUND', {
  id: 'COMMAND-4g3xq',
  text: 'Errors.NotFound',
  when: 'No user has the id, and the caller may change every user.',
  remedy: 'Check the id, and that the request goes to the right instance.',
});

export const otpEmailNotSet = defineError('NOT_FOUND', 'OTP_EMAIL_NOT_SET', {
  id: 'COMMAND-b312D',
  text: "Multifactor OTP (OneTimePassword) doesn't exist",
  when: 'The user does not have the OTP e-mail factor.',
  remedy: 'None needed. A repeated removal gets this error.',
});

const LENGTH = 'value length must be between 1 and 200 runes, inclusive';

export const userIdLength = defineError('INVALID_ARGUMENT', 'USER_ID_LENGTH_INVALID', {
  text: (message: string) => `invalid ${message}.UserId: ${LENGTH}`,
  isZitadels: true,
  example: ['RemoveOTPEmailRequest'],
  when: 'The user id is empty, or longer than 200 characters.',
  remedy: 'Check the id in the path.',
});

export const domainLength = defineError('INVALID_ARGUMENT', 'DOMAIN_LENGTH_INVALID', {
  text: `invalid ListAuthenticationMethodTypesRequest.DomainQuery: embedded message failed validation | caused by: invalid DomainQuery.Domain: ${LENGTH}`,
  isZitadels: true,
  when: 'The list of authentication methods has `domainQuery` without a domain, or with one of more than 200 characters.',
  remedy: 'Set `domainQuery.domain`, or omit `domainQuery`.',
});

/** An invalid part of a request: its path and the problem. */
export interface FieldViolation {
  readonly field: string;
  readonly description: string;
}

function shortened({ field, description }: FieldViolation): FieldViolation {
  return { field: shortenedText(field), description: shortenedText(description) };
}

// `message` stands in place of the first violation's text: as ZITADEL words it, or for several violations.
export const invalidRequest = defineError('INVALID_ARGUMENT', 'INVALID_REQUEST', {
  text: ([first]: readonly FieldViolation[], message?: string) =>
    message ?? (first === undefined ? 'invalid request' : describe(shortened(first))),
  example: [[{ field: 'gcs_output.bucket', description: 'must not be an IP address' }]],
  carries: (violations: readonly FieldViolation[], _message?: string) => badRequest(violations),
  when: 'A field of the request, or of the file that it carries, is invalid.',
  remedy: 'Correct each path in `fieldViolations` of `details`: up to 100 are listed, the message is the first.',
});

function describe({ field, description }: FieldViolation): string {
  return field === '' ? description : `${field}: ${description}`;
}

function badRequest(violations: readonly FieldViolation[]): { details: ErrorDetail[] } {
  const fieldViolations = violations.map(shortened);
  return { details: [{ '@type': 'type.googleapis.com/google.rpc.BadRequest', fieldViolations }] };
}

const invalidBody = (reason: string) => `invalid request body: ${shortenedText(reason)}`;

export const bodyInvalid = defineError('INVALID_ARGUMENT', 'BODY_INVALID', {
  text: invalidBody,
  example: ['unexpected end of JSON input'],
  carries: (reason) => badRequest([{ field: '', description: invalidBody(reason) }]),
  when: 'The body is not JSON in UTF-8, or has the same field twice.',
  remedy: 'Correct the JSON. A file put into the request by a shell must be complete and quoted.',
});

const BYTE_ORDER_MARK = "invalid character 'ï' looking for beginning of value";

export const byteOrderMark = defineError('INVALID_ARGUMENT', 'BODY_BYTE_ORDER_MARK', {
  text: BYTE_ORDER_MARK,
  isZitadels: true,
  carries: () => badRequest([{ field: '', description: BYTE_ORDER_MARK }]),
  when: 'The body begins with a byte order mark, which JSON forbids.',
  remedy: 'Save the file as UTF-8 without a byte order mark.',
});

const NO_OBJECT = 'the request body must be a JSON object';

export const bodyNoObject = defineError('INVALID_ARGUMENT', 'BODY_NOT_AN_OBJECT', {
  text: NO_OBJECT,
  carries: () => badRequest([{ field: '', description: NO_OBJECT }]),
  when: 'The body is not a JSON object, or empty.',
  remedy: 'Send a JSON object, such as `{"response_output":true}`.',
});

export const requestTooLarge = defineError('RESOURCE_EXHAUSTED', 'REQUEST_TOO_LARGE', {
  httpStatus: 413,
  text: (limit: number, advice?: string) =>
    `the request body exceeds ${limit} bytes${advice === undefined ? '' : `: ${advice}`}`,
  example: [32_000_000, 'upload the file to a bucket and set data_orgsv1_gcs'],
  when: 'The body, compressed or not, exceeds the limit of the operation or `MAX_REQUEST_BYTES`.',
  remedy: 'Import a large file from a bucket with `data_orgsv1_gcs`; self-hosted, you can raise `MAX_REQUEST_BYTES`.',
});

export const tooManyInRequest = defineError('RESOURCE_EXHAUSTED', 'TOO_MANY_IN_REQUEST', {
  httpStatus: 413,
  text: (limit: number, what: string, advice: string) => `more than ${limit} ${what} in one request: ${advice}`,
  example: [100_000, 'organisations', 'split the file'],
  when: 'A file contains more of the named kind than one request may. Nothing is written.',
  remedy: 'Do what the error says. Self-hosted, you can raise the limit ([configuration](configuration.md#limits)).',
});

export const dryRunTooLarge = defineError('RESOURCE_EXHAUSTED', 'DRY_RUN_TOO_LARGE', {
  httpStatus: 413,
  text: (limit: number, advice: string) => `more than ${limit} records of a dry run in one request: ${advice}`,
  example: [100_000, 'split the file'],
  when: 'A dry run reads more records than one request may.',
  remedy: 'Do what the error says, or import without a dry run.',
});

export const inflatesTooMuch = defineError('RESOURCE_EXHAUSTED', 'BODY_INFLATES_TOO_MUCH', {
  httpStatus: 413,
  text: (limit: number) => `the request body decompresses to more than ${limit} times its size: send it uncompressed`,
  example: [100],
  when: 'A compressed body is much larger than files of organisations are.',
});

export const outputUnsupported = defineError('UNIMPLEMENTED', 'OUTPUT_UNSUPPORTED', {
  text: (field: string) => `${field} is not supported: set gcs_output, or set response_output to true`,
  example: ['s3_output'],
  when: "An export names one of ZITADEL's outputs that this service does not have.",
});

export const sourceUnsupported = defineError('UNIMPLEMENTED', 'SOURCE_UNSUPPORTED', {
  text: (field: string) =>
    `${field} is not supported: send the file in data_orgsv1, or upload it to a bucket and set data_orgsv1_gcs`,
  example: ['data_orgs_local'],
  when: "An import names one of ZITADEL's sources that this service does not have.",
});

export const responseTooLarge = defineError('FAILED_PRECONDITION', 'RESPONSE_TOO_LARGE', {
  text: (limit: number) =>
    `the export exceeds the response limit of ${limit} bytes: set gcs_output instead of response_output`,
  example: [32_000_000],
  when: 'The export does not fit into a response of this deployment (`MAX_RESPONSE_BYTES`).',
  remedy: 'Export to a bucket, or export fewer organisations at a time with `org_ids`.',
});

export const onlyObjectWritten = defineError('FAILED_PRECONDITION', 'ONLY_OBJECT_WRITTEN', {
  text: (limit: number, { bucket, path, generation }: { bucket: string; path: string; generation: string }) =>
    `gs://${bucket}/${path} was written (generation ${generation}), but the export exceeds the response limit of ${limit} bytes: use the object, and leave out response_output`,
  example: [32_000_000, { bucket: 'exports', path: 'all.json', generation: '1700000000000000' }],
  when: 'An export to a bucket and to the response does not fit into a response (`MAX_RESPONSE_BYTES`). The object is complete.',
  remedy: 'Use the object. Set only `gcs_output` for exports of this size.',
});

export const deadlineExceeded = defineError('DEADLINE_EXCEEDED', 'DEADLINE_EXCEEDED', {
  text: 'context deadline exceeded',
  isZitadels: true,
  carries: (details: readonly ErrorDetail[] = []) => ({ details }),
  when: 'The call took longer than its `timeout`, or than `MAX_TIMEOUT`.',
  remedy: 'Resend the same request, with a longer `timeout` if possible: an import continues with what is missing.',
});

export const organisationRemoved = defineError('ABORTED', 'ORGANISATION_REMOVED', {
  text: (orgId: string) =>
    `organisation ${orgId} is being removed, or was removed during the import: wait for identity org delete to end, or repeat it if it was interrupted, then send the request again`,
  example: ['310716089541007'],
  when: '`identity org delete` removes an organisation that the import writes into, or was interrupted while it did. Nothing of the import is left in the organisation once the removal has ended.',
  remedy: '`identity org list` shows it as `ORG_STATE_REMOVED` until the removal ends.',
});
