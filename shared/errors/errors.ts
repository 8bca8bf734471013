// Errors of exports, imports and removals of the OTP e-mail factor. If ZITADEL has the same error, this service uses
// ZITADEL's id and text (docs/zitadel.md, 6).

import { badRequest, defineError, type IdentityError, shortenedText } from './identityError.ts';

export const authHeaderMissing = defineError('UNAUTHENTICATED', 'AUTH_HEADER_MISSING', {
  text: 'auth header missing',
  isZitadels: true,
});

export const authHeaderInvalid = defineError('UNAUTHENTICATED', 'AUTH_HEADER_INVALID', {
  id: 'AUTH-toLo1',
  text: 'invalid auth header',
});

const invalidToken = { id: 'AUTH-7fs1e', text: 'Errors.Token.Invalid' } as const;

export const tokenInvalid = defineError('UNAUTHENTICATED', 'TOKEN_INVALID', invalidToken);

// Because of `isNamed`, the responses for the next three errors contain the reason for the rejection. A caller without
// a well-formed token cannot cause these errors, and so learns no reason.
export const tokenNotFound = defineError('UNAUTHENTICATED', 'TOKEN_NOT_FOUND', { ...invalidToken, isNamed: true });
export const tokenExpired = defineError('UNAUTHENTICATED', 'TOKEN_EXPIRED', { ...invalidToken, isNamed: true });
export const tokenUserInactive = defineError('UNAUTHENTICATED', 'TOKEN_USER_INACTIVE', {
  ...invalidToken,
  isNamed: true,
});

// ZITADEL has no error for an inactive organisation, because the organisation's users can still log in there (zitadel
// 9.4).
export const organisationInactive = defineError('PERMISSION_DENIED', 'ORGANISATION_INACTIVE', {
  text: "the organisation of the token's user is inactive or removed: use a token of an active organisation's user",
});

export const personDenied = defineError('PERMISSION_DENIED', 'PERSON_DENIED', {
  text: 'the token belongs to a person: exports and imports need the token of a service user that holds IAM_OWNER',
});

export const tokenForOtherOperation = defineError('PERMISSION_DENIED', 'TOKEN_FOR_OTHER_OPERATION', {
  text: 'the token is valid for {only} only: use a token that is valid for {requested}',
});

export const organisationsExist = defineError('ALREADY_EXISTS', 'ORGANISATIONS_EXIST', {
  text: 'organisations of the file exist already: {orgIds}',
  remedy: {
    http: 'exclude these organisations with `excluded_org_ids`; if an interrupted call of this import created them, repeat the call without `on_conflict`',
    command:
      'exclude these organisations with --exclude-org; if an interrupted import created them, repeat the command without --on-conflict fail',
  },
});

/**
 * Returns the first ids to list in an error's text. If there are more ids, the last element contains the number of
 * omitted ids.
 */
export function firstIds(orgIds: readonly string[]): readonly string[] {
  const more = orgIds.length - MAX_NAMED_IDS;
  return more > 0 ? [...orgIds.slice(0, MAX_NAMED_IDS), `and ${more} more`] : orgIds;
}

const MAX_NAMED_IDS = 10;

export const operationDenied = defineError('PERMISSION_DENIED', 'OPERATION_DENIED', {
  id: 'AUTH-5mWD2',
  text: 'No matching permissions found',
});

// A caller without the permission also receives this error if the user does not exist, and so cannot find out which ids
// exist.
export const userDenied = defineError('PERMISSION_DENIED', 'USER_DENIED', {
  id: 'AUTH-AWfge',
  text: 'No matching permissions found',
});

export const userNotFound = defineError('NOT_FOUND', 'USER_NOT_FOUND', {
  id: 'COMMAND-4g3xq',
  text: 'Errors.NotFound',
});

export const otpEmailNotSet = defineError('NOT_FOUND', 'OTP_EMAIL_NOT_SET', {
  id: 'COMMAND-b312D',
  text: "Multifactor OTP (OneTimePassword) doesn't exist",
});

const LENGTH = 'value length must be between 1 and 200 runes, inclusive';

export const userIdLength = defineError('INVALID_ARGUMENT', 'USER_ID_LENGTH_INVALID', {
  text: `invalid {message}.UserId: ${LENGTH}`,
  isZitadels: true,
});

export const domainLength = defineError('INVALID_ARGUMENT', 'DOMAIN_LENGTH_INVALID', {
  text: `invalid ListAuthenticationMethodTypesRequest.DomainQuery: embedded message failed validation | caused by: invalid DomainQuery.Domain: ${LENGTH}`,
  isZitadels: true,
});

export interface FieldViolation {
  readonly field: string;
  readonly description: string;
  /** The id of the record that contains the field. In the error's details, the description ends with this id. */
  readonly record?: string | undefined;
}

/**
 * The maximum length of a description in an error. A description contains a quoted value and a remedy, so it may be
 * longer than a quotation.
 */
const MAX_DESCRIPTION_CHARACTERS = 500;

function shortenedViolation({ field, description }: FieldViolation): FieldViolation {
  return { field: shortenedText(field), description: shortenedText(description, MAX_DESCRIPTION_CHARACTERS) };
}

function detailedViolation({ record, ...violation }: FieldViolation): FieldViolation {
  const { field, description } = shortenedViolation(violation);
  return {
    field,
    description: record === undefined ? description : `${description} (record ${shortenedText(record)})`,
  };
}

export const requestInvalid = defineError('INVALID_ARGUMENT', 'INVALID_REQUEST', { text: '[{field}: ]{problem}' });

/**
 * @param message the text of the error: ZITADEL's text, or a summary of several violations. If absent, the text is the
 * first violation
 */
export function invalidRequest(violations: readonly FieldViolation[], message?: string): IdentityError {
  const [first] = violations.map(shortenedViolation);
  const { field = '', description = 'invalid request' } = first ?? {};
  const named = message === undefined && field !== '' ? { field } : {};
  const details = [badRequest(violations.map(detailedViolation))];
  return requestInvalid({ problem: message ?? description, ...named }, { details });
}

export const mirrorTooLarge = defineError('FAILED_PRECONDITION', 'MIRROR_DELETES_TOO_MUCH', {
  text: 'the import would delete more records than permitted ({records} instead of {limit}), and has changed nothing',
  remedy: {
    http: 'check the deletions that a dry run lists, then set `max_deleted` to their number',
    command: 'check the deletions that a dry run lists, then set --max-deleted to their number',
  },
});

export const mirrorOutdated = defineError('FAILED_PRECONDITION', 'MIRROR_OUTDATED', {
  text: 'the file was exported from {file}, and the last import into organisation {orgId} came from {last}: mirroring the file could undo later changes',
  remedy: {
    http: 'if the file is older than the last import, export the source again; otherwise check the organisation, then add its id to `replace_changed`: the import makes the organisation equal to the file',
    command:
      'if the file is older than the last import, export the source again; otherwise check the organisation, then add --replace-changed {orgId}: the import makes the organisation equal to the file',
  },
});

export const mirrorChanged = defineError('FAILED_PRECONDITION', 'MIRROR_CHANGED', {
  text: 'records of organisation {orgId} were created or changed in the target, for example {record}[; records of further organisations too: {others}]: mirroring the file would undo these changes',
  remedy: {
    http: 'change the source instead; to undo the changes in the target, add the organisations to `replace_changed`',
    command: 'change the source instead; to undo the changes in the target, add --replace-changed {orgId}',
  },
});

export const mirrorDefaultOrganisation = defineError('FAILED_PRECONDITION', 'MIRROR_DEFAULT_ORGANISATION', {
  text: 'organisation {orgId} is the default organisation, which is mirrored only if the call selects it',
  remedy: {
    http: 'add the organisation to `org_ids`, or exclude it with `excluded_org_ids`',
    command: 'select this organisation and all others with --org, or exclude it with --exclude-org {orgId}',
  },
});

export const bodyInvalid = defineError('INVALID_ARGUMENT', 'BODY_INVALID', {
  text: 'invalid request body: {problem}',
  isViolation: true,
});

export const bodyNoObject = defineError('INVALID_ARGUMENT', 'BODY_NOT_AN_OBJECT', {
  text: 'the request body must be a JSON object',
  isViolation: true,
});

export const requestTooLarge = defineError('RESOURCE_EXHAUSTED', 'REQUEST_TOO_LARGE', {
  httpStatus: 413,
  text: 'the request body exceeds {limit} bytes[: {advice}]',
});

export const tooManyInRequest = defineError('RESOURCE_EXHAUSTED', 'TOO_MANY_IN_REQUEST', {
  httpStatus: 413,
  text: 'more than {limit} {what}: {advice}',
});

export const dryRunTooLarge = defineError('RESOURCE_EXHAUSTED', 'DRY_RUN_TOO_LARGE', {
  httpStatus: 413,
  text: 'more than {limit} {what}: {advice}',
});

export const inflatesTooMuch = defineError('RESOURCE_EXHAUSTED', 'BODY_INFLATES_TOO_MUCH', {
  httpStatus: 413,
  text: 'the request body decompresses to more than {limit} times its size: send the body uncompressed',
});

export const outputUnsupported = defineError('UNIMPLEMENTED', 'OUTPUT_UNSUPPORTED', {
  text: '{field} is not supported: set gcs_output, or set response_output to true',
});

export const sourceUnsupported = defineError('UNIMPLEMENTED', 'SOURCE_UNSUPPORTED', {
  text: '{field} is not supported: send the file in data_orgsv1, or upload the file to a bucket and set data_orgsv1_gcs',
});

export const uploadsUnsupported = defineError('FAILED_PRECONDITION', 'UPLOADS_UNSUPPORTED', {
  text: '{field}: the instance has no bucket for transfers: send the file in data_orgs, or upload the file to your own bucket and set data_orgs_gcs',
});

/** Only RPCs fail with this error. A REST response redirects the client to a file instead. */
export const rpcResponseTooLarge = defineError('RESOURCE_EXHAUSTED', 'RPC_RESPONSE_TOO_LARGE', {
  text: 'the export exceeds the response limit of {limit} bytes: set gcs_output instead of response_output, or send the request as JSON over HTTP',
});

export const responseTooLarge = defineError('FAILED_PRECONDITION', 'RESPONSE_TOO_LARGE', {
  text: 'the export exceeds the response limit of {limit} bytes: set gcs_output instead of response_output',
});

export const onlyObjectWritten = defineError('FAILED_PRECONDITION', 'ONLY_OBJECT_WRITTEN', {
  text: '{object} was written (generation {generation}), but the export exceeds the response limit of {limit} bytes: use the written object, and omit response_output from further requests',
});

export const redirectionFailed = defineError('UNAVAILABLE', 'REDIRECTION_FAILED', {
  text: '{object} was written (generation {generation}), but the response failed: {problem}; use the written object, and omit response_output from further requests',
});

export const deadlineExceeded = defineError('DEADLINE_EXCEEDED', 'DEADLINE_EXCEEDED', {
  text: 'context deadline exceeded',
  isZitadels: true,
});

export const organisationRemoved = defineError('ABORTED', 'ORGANISATION_REMOVED', {
  text: 'the removal of organisation {orgId} was interrupted: repeat `identity org delete`, then send the request again',
});
