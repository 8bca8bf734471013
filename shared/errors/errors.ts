import { defineError, type ErrorDetail } from './identityError.ts';

// Errors of the operations. Ids and the texts of errors with an id are ZITADEL's (zitadel 6).

export const authHeaderMissing = defineError({
  code: 'UNAUTHENTICATED',
  text: 'auth header missing',
  when: 'The request has no `Authorization` header.',
  remedy: 'Send `Authorization: Bearer TOKEN` with a personal access token.',
});

export const authHeaderInvalid = defineError({
  code: 'UNAUTHENTICATED',
  id: 'AUTH-toLo1',
  text: 'invalid auth header',
  when: 'The `Authorization` header does not start with `Bearer` and a space; upper and lower case matter.',
  remedy: 'Send `Authorization: Bearer TOKEN` with a personal access token.',
});

export const tokenInvalid = defineError({
  code: 'UNAUTHENTICATED',
  id: 'AUTH-7fs1e',
  text: 'Errors.Token.Invalid',
  when: 'The token is malformed, unknown, expired or revoked, or its user is inactive, locked or deleted.',
  remedy: 'Create a token on this instance with `identity pat create`; tokens of ZITADEL are not valid here.',
});

// ZITADEL has no error for this case: people of an inactive organisation can log in there (zitadel 9.4).
export const organisationInactive = defineError({
  code: 'PERMISSION_DENIED',
  text: "the organisation of the token's user is inactive or removed: use a token of an active organisation's user",
  when: "The token is valid, but its user's organisation is in the state `ORG_STATE_INACTIVE` or `ORG_STATE_REMOVED`.",
  remedy:
    "Use a token of another organisation's user. The token is valid again when the organisation is active, for example after an import with `on_conflict` `overwrite`.",
});

export const personDenied = defineError({
  code: 'PERMISSION_DENIED',
  text: "the token is a person's: exports and imports need the token of a service user that holds IAM_OWNER",
  when: 'A person who holds IAM_OWNER calls an export or import.',
  remedy: 'Create a service user with `identity service-user create`, grant it IAM_OWNER, and use its token.',
});

export const tokenForOtherOperation = defineError({
  code: 'PERMISSION_DENIED',
  text: (only: string, requested: string) =>
    `the token is valid for ${only} only: use one that is valid for ${requested}`,
  example: ['import', 'export'],
  when: 'The token was created with `--only`, and the request needs another operation.',
  remedy: 'Use another token, or create one with `identity pat create`.',
});

export const tokenForOtherOrganisations = defineError({
  code: 'PERMISSION_DENIED',
  text: (orgIds: readonly string[]) =>
    `the token is valid for the organisations ${orgIds.join(', ')} only: set org_ids to some of them`,
  example: [['310716089541007']],
  when: 'The token was created with `--org`, and the request does not select its organisations by `org_ids`, or selects others.',
  remedy: 'Set `org_ids`, or use a token that is valid for all organisations.',
});

export const organisationsExist = defineError({
  code: 'ALREADY_EXISTS',
  text: (orgIds: readonly string[]) =>
    `new_orgs_only: ${orgIds.length} organisations of the file exist already: ${orgIds.slice(0, 10).join(', ')}${orgIds.length > 10 ? ', …' : ''}`,
  example: [['310716089541007']],
  when: 'An import with `new_orgs_only` has an organisation that exists, and that this very import has not created. Nothing was written, unless another request created the organisation at the same time.',
  remedy: 'Leave the organisations out with `excluded_org_ids`, or import without `new_orgs_only`.',
});

export const operationDenied = defineError({
  code: 'PERMISSION_DENIED',
  id: 'AUTH-5mWD2',
  text: 'No matching permissions found',
  when: 'The caller of an export or import does not hold IAM_OWNER.',
  remedy: 'Use the token of a service user that holds IAM_OWNER, or grant it with `identity member add`.',
});

// Also thrown for a user that does not exist, so that callers cannot probe for ids.
export const userDenied = defineError({
  code: 'PERMISSION_DENIED',
  id: 'AUTH-AWfge',
  text: 'No matching permissions found',
  when: 'The caller may not read or change this user, or there is no such user and the caller may not read or change any.',
  remedy:
    "Use the user's own token, or one with `user.read` or `user.write` on the user's organisation, such as an ORG_OWNER's.",
});

export const userNotFound = defineError({
  code: 'NOT_FOUND',
  id: 'COMMAND-4g3xq',
  text: 'Errors.NotFound',
  when: 'No user has the id, and the caller may change every user.',
  remedy: 'Check the id, and that the request goes to the right instance.',
});

export const otpEmailNotSet = defineError({
  code: 'NOT_FOUND',
  id: 'COMMAND-b312D',
  text: "Multifactor OTP (OneTimePassword) doesn't exist",
  when: 'The user does not have the OTP e-mail factor.',
  remedy: 'None needed. A repeated removal gets this error.',
});

const LENGTH = 'value length must be between 1 and 200 runes, inclusive';

export const userIdLength = defineError({
  code: 'INVALID_ARGUMENT',
  text: (message: string) => `invalid ${message}.UserId: ${LENGTH}`,
  example: ['RemoveOTPEmailRequest'],
  when: 'The user id is empty, or longer than 200 characters.',
  remedy: 'Check the id in the path.',
});

export const domainLength = defineError({
  code: 'INVALID_ARGUMENT',
  text: `invalid ListAuthenticationMethodTypesRequest.DomainQuery: embedded message failed validation | caused by: invalid DomainQuery.Domain: ${LENGTH}`,
  when: 'The list of authentication methods has `domainQuery` without a domain, or with one of more than 200 characters.',
  remedy: 'Set `domainQuery.domain`, or omit `domainQuery`.',
});

/** An invalid part of a request: its path and the problem. */
export interface FieldViolation {
  readonly field: string;
  readonly description: string;
}

/** Paths and problems quote names of the request, which can be megabytes long. */
const MAX_QUOTED_CHARACTERS = 200;

function shortened({ field, description }: FieldViolation): FieldViolation {
  return { field: shortenedText(field), description: shortenedText(description) };
}

function shortenedText(text: string): string {
  return text.length <= MAX_QUOTED_CHARACTERS ? text : `${text.slice(0, MAX_QUOTED_CHARACTERS).toWellFormed()}...`;
}

// `message` is ZITADEL's text for the first violation, if it has one.
export const invalidRequest = defineError<[violations: readonly FieldViolation[], message?: string]>({
  code: 'INVALID_ARGUMENT',
  text: ([first], message) => message ?? (first === undefined ? 'invalid request' : describe(shortened(first))),
  example: [[{ field: 'gcs_output.bucket', description: 'must not be an IP address' }]],
  carries: (violations) => badRequest(violations),
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

export const bodyInvalid = defineError({
  code: 'INVALID_ARGUMENT',
  text: invalidBody,
  example: ['unexpected end of JSON input'],
  carries: (reason) => badRequest([{ field: '', description: invalidBody(reason) }]),
  when: 'The body is not JSON in UTF-8, or has the same field twice.',
  remedy: 'Correct the JSON. A file put into the request by a shell must be complete and quoted.',
});

const BYTE_ORDER_MARK = "invalid character 'ï' looking for beginning of value";

export const byteOrderMark = defineError({
  code: 'INVALID_ARGUMENT',
  text: BYTE_ORDER_MARK,
  carries: () => badRequest([{ field: '', description: BYTE_ORDER_MARK }]),
  when: 'The body begins with a byte order mark, which JSON forbids.',
  remedy: 'Save the file as UTF-8 without a byte order mark.',
});

const NO_OBJECT = 'the request body must be a JSON object';

export const bodyNoObject = defineError({
  code: 'INVALID_ARGUMENT',
  text: NO_OBJECT,
  carries: () => badRequest([{ field: '', description: NO_OBJECT }]),
  when: 'The body is not a JSON object, or empty.',
  remedy: 'Send a JSON object, such as `{"response_output":true}`.',
});

export const requestTooLarge = defineError({
  code: 'RESOURCE_EXHAUSTED',
  httpStatus: 413,
  text: (limit: number, advice?: string) =>
    `the request body exceeds ${limit} bytes${advice === undefined ? '' : `: ${advice}`}`,
  example: [32_000_000, 'upload the file to a bucket and set data_orgsv1_gcs'],
  when: 'The body, compressed or not, exceeds the limit of the operation or `MAX_REQUEST_BYTES`.',
  remedy: 'Import a large file from a bucket with `data_orgsv1_gcs`; self-hosted, you can raise `MAX_REQUEST_BYTES`.',
});

export const tooManyInRequest = defineError({
  code: 'RESOURCE_EXHAUSTED',
  httpStatus: 413,
  text: (limit: number, what: string, advice: string) => `more than ${limit} ${what} in one request: ${advice}`,
  example: [100_000, 'organisations', 'split the file'],
  when: 'A file contains more of the named kind than one request may. Nothing is written.',
  remedy: 'Do what the error says. Self-hosted, you can raise the limit ([configuration](configuration.md#limits)).',
});

export const inflatesTooMuch = defineError({
  code: 'RESOURCE_EXHAUSTED',
  httpStatus: 413,
  text: (limit: number) => `the request body decompresses to more than ${limit} times its size: send it uncompressed`,
  example: [100],
  when: 'A compressed body is much larger than files of organisations are.',
  remedy: 'Send the body without compression.',
});

export const outputUnsupported = defineError({
  code: 'UNIMPLEMENTED',
  text: (field: string) => `${field} is not supported: set gcs_output, or set response_output to true`,
  example: ['s3_output'],
  when: "An export names one of ZITADEL's outputs that this service does not have.",
  remedy: 'Export to the response or to Cloud Storage.',
});

export const sourceUnsupported = defineError({
  code: 'UNIMPLEMENTED',
  text: (field: string) =>
    `${field} is not supported: send the file in data_orgsv1, or upload it to a bucket and set data_orgsv1_gcs`,
  example: ['data_orgs_local'],
  when: "An import names one of ZITADEL's sources that this service does not have.",
  remedy: 'Import from the request or from Cloud Storage.',
});

export const responseTooLarge = defineError({
  code: 'FAILED_PRECONDITION',
  text: (limit: number) =>
    `the export exceeds the response limit of ${limit} bytes: set gcs_output instead of response_output`,
  example: [32_000_000],
  when: 'The export does not fit into a response of this deployment (`MAX_RESPONSE_BYTES`).',
  remedy: 'Export to a bucket, or export fewer organisations at a time with `org_ids`.',
});

export const onlyObjectWritten = defineError({
  code: 'FAILED_PRECONDITION',
  text: (limit: number, { bucket, path, generation }: { bucket: string; path: string; generation: string }) =>
    `gs://${bucket}/${path} was written (generation ${generation}), but the export exceeds the response limit of ${limit} bytes: use the object, and leave out response_output`,
  example: [32_000_000, { bucket: 'exports', path: 'all.json', generation: '1700000000000000' }],
  when: 'An export to a bucket and to the response does not fit into a response (`MAX_RESPONSE_BYTES`). The object is complete.',
  remedy: 'Use the object. Set only `gcs_output` for exports of this size.',
});

export const deadlineExceeded = defineError({
  code: 'DEADLINE_EXCEEDED',
  text: 'context deadline exceeded',
  carries: (details: readonly ErrorDetail[] = []) => ({ details }),
  when: 'The call took longer than its `timeout`, or than `MAX_TIMEOUT`.',
  remedy: 'Resend the same request, with a longer `timeout` if possible: an import resumes from its last checkpoint.',
});

export const storeUnavailable = defineError({
  code: 'UNAVAILABLE',
  text: 'the database is unavailable: retry the request',
  carries: (cause: unknown) => ({ cause }),
  when: 'The database was unreachable, or locked, for as long as the service waits for it.',
  remedy: 'Retry the request. If it fails again, check the database.',
});

// Self-hosted where the disk is full; in the cloud where the platform no longer takes log lines.
export const auditUnwritable = defineError({
  code: 'UNAVAILABLE',
  id: 'AUDIT-w7Kp2',
  text: 'the audit trail cannot be written, so the operation was not performed: free disk space, or correct the permissions of the data directory',
  carries: (cause: unknown) => ({ cause }),
  when: 'An export, import, removal or command could not be put on record before its first effect. Nothing left the service, and nothing was written.',
  remedy: "The service's log has the cause. Free disk space, or correct the permissions, and retry the request.",
});

export const organisationRemoved = defineError({
  code: 'ABORTED',
  text: (orgId: string) =>
    `organisation ${orgId} is being removed, or was removed during the import: wait for identity org delete to end, then send the request again`,
  example: ['310716089541007'],
  when: '`identity org delete` removes an organisation that the import writes into, or was interrupted while it did. Nothing of the import is left in the organisation once the removal has ended.',
  remedy: 'Wait for the command to end, or repeat it if it was interrupted. Then retry the request.',
});

export const storeContention = defineError({
  code: 'ABORTED',
  text: 'write conflict with concurrent changes to the same records: retry the request',
  carries: (cause: unknown) => ({ cause }),
  when: 'Each attempt of a transaction lost against other writers.',
  remedy: 'Retry the request; do not run two imports of the same file at once.',
});

export const storeFailed = defineError({
  code: 'INTERNAL',
  text: (reason: string, _cause: unknown) => `database error: ${reason}`,
  example: ['PERMISSION_DENIED', undefined],
  carries: (_reason, cause) => ({ cause }),
  when: "The database rejected an operation; the message ends with the database's status.",
  remedy:
    "Check the database: its status, disk space, and the service's access to it. The service's log has the cause.",
});

export const snapshotEnded = defineError({
  code: 'ABORTED',
  text: 'the snapshot has ended, because concurrent changes outgrew the log of the database: retry the request',
  when: 'While an export or a dry run read the embedded database, others wrote more than its size and 56 MB.',
  remedy: 'Retry the request when the other imports are done.',
});

export const databaseFormatUnsupported = defineError({
  code: 'UNAVAILABLE',
  text: (format: number | undefined, supported: number) =>
    `the database has ${format === undefined ? 'no format' : `format ${format}`}, and this version needs format ${supported}: run the version that has written it, or begin with an empty database`,
  example: [6, 5],
  when: 'Another version of this software has written the database. This version changes nothing there.',
  remedy:
    'Run the version that has written it. To move its organisations to this version, export them there, and import them into a new instance.',
});
