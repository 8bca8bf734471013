// No text of these errors contains a token.

import { shellWord } from '../shellWord.ts';
import { tokenExpired, tokenForOtherOperation, tokenNotFound, tokenUserInactive } from './errors.ts';
import { defineError, type IdentityError, REPEAT_COMMAND, reasonOf } from './identityError.ts';

/** This template contains only parameters. The code that creates an error supplies its problem and its remedy. */
const DESCRIBED = { text: '{place} {problem}', remedy: '{advice}' } as const;

export const placeUnreachable = defineError('UNAVAILABLE', 'PLACE_UNREACHABLE', {
  text: '{place} cannot be reached ({reason})',
  remedy: 'check the address, and that the instance runs',
});

export const placeTimedOut = defineError('UNAVAILABLE', 'PLACE_TIMED_OUT', {
  text: '{place} did not respond to {call} within {seconds} s',
  remedy: 'check that the instance and its database run and are not overloaded',
});

export const placeUntrusted = defineError('FAILED_PRECONDITION', 'PLACE_UNTRUSTED', {
  text: 'the certificate of {place} is not trusted ({code}): correct the certificate on the server, or set NODE_EXTRA_CA_CERTS to the PEM file of the certificate authority',
});

export const placeProtocolWrong = defineError('FAILED_PRECONDITION', 'PLACE_PROTOCOL_WRONG', {
  text: '{place} {problem}',
});

export const placeNotKnown = defineError('FAILED_PRECONDITION', 'PLACE_NOT_RECOGNISED', {
  text: '{place} is not an instance of this service ({reason}), nor a ZITADEL instance[ ({ofZitadel})]: check the address, which must not contain a path',
});

export const zitadelHostUnknown = defineError('FAILED_PRECONDITION', 'ZITADEL_HOST_UNKNOWN', {
  text: '{url} is a ZITADEL instance that does not serve this host ({message}): specify the address with its ExternalDomain, or configure the proxy in front of ZITADEL to forward ExternalDomain as the host',
});

/** `tokenFile` is undefined if the user entered the token at the terminal. */
interface TokenSource {
  readonly tokenOption: string;
  readonly tokenFile?: string | undefined;
}

const tokenProblems: ReadonlyMap<unknown, string> = new Map([
  [tokenExpired.row.reason, 'the token has expired'],
  [tokenNotFound.row.reason, 'the token was revoked, or belongs to another instance'],
  [tokenUserInactive.row.reason, 'the user of the token is locked, deactivated or deleted'],
]);

export const tokenRejected = defineError('UNAUTHENTICATED', 'PLACE_TOKEN_REJECTED', {
  text: '{place} rejects the token of {option}[ {file}] ({problem})',
  remedy:
    '[{check}, or ]create another token for {place}, store only the token in a file, and specify the file with {option}',
});

export function placeTokenRejected(
  place: string,
  { tokenOption: option, tokenFile }: TokenSource,
  reason: string,
  cause?: unknown,
): IdentityError {
  const problem = tokenProblems.get(reasonOf(cause));
  const check = problem === undefined ? 'check that the user of the token is active' : undefined;
  const file = tokenFile === undefined ? undefined : shellWord(tokenFile);
  return tokenRejected({ place, option, file, problem: problem ?? reason, check }, { option });
}

export const tokenForbidden = defineError('PERMISSION_DENIED', 'PLACE_TOKEN_FORBIDDEN', {
  text: '{place} does not permit this call with the token of {option} ({reason})[: {advice}]',
});

/** If the token is restricted to other operations, `reason` already contains the remedy. */
export function placeTokenForbidden(place: string, option: string, reason: string, cause?: unknown): IdentityError {
  const isRestricted = reasonOf(cause) === tokenForOtherOperation.row.reason;
  const advice = isRestricted ? undefined : 'use a token of a service user with the role IAM_OWNER';
  return tokenForbidden({ place, option, reason, advice }, { cause });
}

export const placeRefused = defineError('FAILED_PRECONDITION', 'PLACE_REFUSED', {
  text: '{place} refuses[ {content}]: {reason}',
});

/** The rejection comes from another server, such as a proxy in front of the instance, not from the instance itself. */
export const gatewayRefused = defineError('FAILED_PRECONDITION', 'PLACE_GATEWAY_REFUSED', DESCRIBED);

export const contentTooLarge = defineError('FAILED_PRECONDITION', 'CONTENT_TOO_LARGE', {
  text: '{content} exceeds the limit of {place}[, {limit}]',
  remedy: '{advice}',
});

export const placeFailed = defineError('UNAVAILABLE', 'PLACE_FAILED', {
  text: '{place} failed: {reason}',
  remedy: REPEAT_COMMAND,
});

/** The server that `place` describes is temporarily unavailable; a retry may succeed. */
export const placeUnavailable = defineError('UNAVAILABLE', 'PLACE_UNAVAILABLE', {
  text: '{place} failed: {reason}',
  remedy: REPEAT_COMMAND,
});

/** A gateway in front of the server ended the call because of a time limit. A shorter call may succeed. */
export const gatewayTimedOut = defineError('UNAVAILABLE', 'PLACE_GATEWAY_TIMED_OUT', {
  text: '{place} failed: {reason}',
  remedy: `${REPEAT_COMMAND}; if this happens again, raise the response timeout of the gateway in front of the instance`,
});

export const placeLost = defineError('UNAVAILABLE', 'PLACE_LOST', {
  text: '{place} failed: the connection was lost {moment} ({reason})',
  remedy: REPEAT_COMMAND,
});

export const sourceInvalid = defineError('FAILED_PRECONDITION', 'SOURCE_INVALID', DESCRIBED);

export const sourceMissing = defineError('NOT_FOUND', 'SOURCE_MISSING', {
  text: '{place} does not exist: check the name',
});

export const storageFull = defineError('RESOURCE_EXHAUSTED', 'STORAGE_FULL', {
  text: '{directory} has no space left: {bytes} of {place} were written',
  remedy: 'free some space in the directory, or choose another directory; the command has removed the incomplete file',
});

export const directoryUnusable = defineError('FAILED_PRECONDITION', 'DIRECTORY_UNUSABLE', {
  text: 'the directory {directory} {problem}: correct the problem, or choose another directory for {file}',
});

export const spoolUnusable = defineError('FAILED_PRECONDITION', 'SPOOL_UNUSABLE', {
  text: 'the directory for temporary files, {directory}, {problem}: correct the problem, or set TMPDIR to another directory',
});

export const spoolFull = defineError('RESOURCE_EXHAUSTED', 'SPOOL_FULL', {
  text: 'no space left for a temporary file in {directory}: free some space, or set TMPDIR to another directory',
});

export const outputIncomplete = defineError('FAILED_PRECONDITION', 'OUTPUT_INCOMPLETE', {
  text: 'standard output cannot be written ({code}): the printed output is incomplete; the changes that the command has made remain',
});

export const credentialsMissing = defineError('UNAUTHENTICATED', 'CREDENTIALS_MISSING', {
  text: 'no credentials for {place}: specify a key file with --credentials-file, or run `gcloud auth application-default login`',
});

export const sourceChanged = defineError('ABORTED', 'SOURCE_CHANGED', {
  text: '{place} has changed since the plan was made; nothing is changed in {target}: run the command again',
});

export const targetChanged = defineError('ABORTED', 'TARGET_CHANGED', {
  text: '{place} has changed since the plan was made; nothing is migrated: run the command again',
});

export const planChanged = defineError('ABORTED', 'PLAN_CHANGED', {
  text: 'nothing is migrated, because {changed} changed after the dry run that printed the digest in --expect: run a new dry run: {next}',
});

export const migrationStopped = defineError('UNAVAILABLE', 'MIGRATION_STOPPED', {
  text: '{problem}; {progress}; {next}',
});

export const migrationTokenTooNarrow = defineError('PERMISSION_DENIED', 'MIGRATION_TOKEN_TOO_NARROW', {
  text: 'the token for {place} does not permit {operation}s: use a token of a service user with the role IAM_OWNER[ that {range}]',
});

export const zitadelCallFailed = defineError('UNKNOWN', 'ZITADEL_CALL_FAILED', {
  text: '{url} returned {status} to {call}: {message}',
});

export const zitadelCannotExport = defineError('UNKNOWN', 'ZITADEL_CANNOT_EXPORT', {
  text: '{url} returned {status} to the export of organisation {orgId}: {message}; exclude the organisation with --exclude-org {orgId}',
});

export const zitadelContextMissing = defineError('FAILED_PRECONDITION', 'ZITADEL_CONTEXT_MISSING', {
  text: '{url} cannot be called for organisation {orgId} ({reason}); exclude the organisation with --exclude-org {orgId}',
});

export const zitadelHeaderLost = defineError('FAILED_PRECONDITION', 'ZITADEL_HEADER_LOST', {
  text: '{url} does not receive the header x-zitadel-orgid: its response is about organisation {answered} instead of {orgId}; configure the proxy in front of ZITADEL to forward the header, or specify an address that bypasses the proxy',
});

export const zitadelStatesUnknown = defineError('FAILED_PRECONDITION', 'ZITADEL_STATES_UNKNOWN', {
  text: "{url} exports no states of records, and the states of these records in organisation {orgId} are unknown: {states} ({reason}); permit the token's user to read users, exclude the organisation with --exclude-org {orgId}, or treat records with unknown states as active with --accept unknown-states",
});

export const zitadelHistoryIncomplete = defineError('FAILED_PRECONDITION', 'ZITADEL_HISTORY_INCOMPLETE', {
  text: '{url} does not return its oldest events, so the owners of the ids in the file are unknown; set AuditLogRetention to 0 in ZITADEL during the import',
});

export const zitadelMirrorOutdated = defineError('FAILED_PRECONDITION', 'ZITADEL_MIRROR_OUTDATED', {
  text: 'the source of the file was read at {readTime}, and {record} of organisation {orgId} was imported later, at {created}: deleting this record could undo later changes',
  remedy: 'export the source again; to delete the record anyway, add --replace-changed {orgId}',
});

export const zitadelMirrorDeleted = defineError('FAILED_PRECONDITION', 'ZITADEL_MIRROR_DELETED', {
  text: 'records of organisation {orgId} were deleted in ZITADEL, but the file still contains them: {records}[, and {omitted} more][; also records of {others}]: mirroring the file would create them again',
  remedy:
    'if the source still has these records, delete the records in the source, then export the source again; to create them in ZITADEL again, add --replace-changed {orgId}',
});

export const zitadelMirrorDefault = defineError('FAILED_PRECONDITION', 'ZITADEL_MIRROR_DEFAULT_ORGANISATION', {
  text: "organisation {orgId} is the default organisation of ZITADEL: a mirroring import deletes nothing in it, because this organisation contains the project of ZITADEL's console",
  remedy: 'exclude the organisation with --exclude-org {orgId}',
});

export const zitadelExportTooSlow = defineError('DEADLINE_EXCEEDED', 'ZITADEL_EXPORT_TOO_SLOW', {
  text: 'the export of organisation {orgId} takes too long[: more than {seconds} s]',
  remedy:
    'allow more time with --timeout, raise the timeouts of gateways, or export without password hashes, which is four times as fast',
});

export const zitadelImportTooSlow = defineError('DEADLINE_EXCEEDED', 'ZITADEL_IMPORT_TOO_SLOW', {
  text: 'the import of a single record, {record}, takes more than {seconds} s: find out what delays ZITADEL or its database, then repeat the command',
});
