// Errors of the `identity` command about places, and migrations between them. No text contains a token.

import { shellWord } from '../shellWord.ts';
import { tokenExpired, tokenForOtherOperation, tokenNotFound, tokenUserInactive } from './errors.ts';
import { defineError, reasonOf } from './identityError.ts';

export const placeUnreachable = defineError('UNAVAILABLE', 'PLACE_UNREACHABLE', {
  text: (place: string, reason: string) =>
    `${place} cannot be reached (${reason}): check the address, and that the instance runs`,
  example: ['https://id.example.com', 'ECONNREFUSED'],
});

export const placeTimedOut = defineError('UNAVAILABLE', 'PLACE_TIMED_OUT', {
  text: (place: string, call: string, seconds: number) =>
    `${place} did not respond to ${call} within ${seconds} s: check that it and its database run, and are not overloaded`,
  example: ['https://id.example.com', 'GET /openapi.json', 30],
});

export const placeUntrusted = defineError('FAILED_PRECONDITION', 'PLACE_UNTRUSTED', {
  text: (place: string, code: string) =>
    `the certificate of ${place} is not trusted (${code}): correct it there, or set NODE_EXTRA_CA_CERTS to the PEM file of its authority`,
  example: ['https://id.example.com', 'SELF_SIGNED_CERT_IN_CHAIN'],
});

export const placeProtocolWrong = defineError('FAILED_PRECONDITION', 'PLACE_PROTOCOL_WRONG', {
  text: (place: string, problem: string) => `${place} ${problem}`,
  example: ['http://127.0.0.1:8443', 'expects TLS: specify https://127.0.0.1:8443'],
});

export const placeNotKnown = defineError('FAILED_PRECONDITION', 'PLACE_NOT_RECOGNISED', {
  text: (place: string, reason: string, ofZitadel?: string) =>
    `${place} is not an instance of this service (${reason}), nor a ZITADEL instance${ofZitadel === undefined ? '' : ` (${ofZitadel})`}: check the address, without a path`,
  example: [
    'https://www.example.com',
    '/openapi.json returns 404',
    '/.well-known/openid-configuration returns 404: Not Found',
  ],
});

export const zitadelHostUnknown = defineError('FAILED_PRECONDITION', 'ZITADEL_HOST_UNKNOWN', {
  text: (url: string, message: string) =>
    `${url} is a ZITADEL that does not serve this host (${message}): specify the address with its ExternalDomain, or let the proxy before it pass that host on`,
  example: [
    'http://127.0.0.1:8080',
    'unable to set instance using origin &{127.0.0.1:8080  http} (ExternalDomain is localhost): ID=QUERY-1kIjX Message=Instance not found',
  ],
});

/** A token's option and file; without a file if the token was entered at the terminal. */
interface TokenSource {
  readonly tokenOption: string;
  readonly tokenFile?: string | undefined;
}

/** Problems of tokens, by the names of an instance's errors. */
const tokenProblems: ReadonlyMap<unknown, string> = new Map([
  [tokenExpired.row.reason, 'it has expired'],
  [tokenNotFound.row.reason, 'it is revoked, or of another instance'],
  [tokenUserInactive.row.reason, 'its user is locked, deactivated or deleted'],
]);

export const placeTokenRejected = defineError('UNAUTHENTICATED', 'PLACE_TOKEN_REJECTED', {
  text: (place: string, { tokenOption, tokenFile }: TokenSource, reason: string, cause?: unknown) => {
    const problem = tokenProblems.get(reasonOf(cause));
    const token = `the token of ${tokenOption}${tokenFile === undefined ? '' : ` ${shellWord(tokenFile)}`}`;
    const check = problem === undefined ? 'check that its user is active, or ' : '';
    return `${place} rejects ${token} (${problem ?? reason}): ${check}create another token there, store it alone in a file, and specify it by ${tokenOption}`;
  },
  example: [
    'https://id.example.com',
    { tokenOption: '--token-file', tokenFile: 'owner.pat' },
    'invalid token (AUTH-7fs1e)',
  ],
  carries: (_place, { tokenOption }) => ({ option: tokenOption }),
});

export const placeTokenForbidden = defineError('PERMISSION_DENIED', 'PLACE_TOKEN_FORBIDDEN', {
  text: (place: string, option: string, reason: string, cause?: unknown) => {
    // The message about a restricted token has a remedy.
    const isRestricted = reasonOf(cause) === tokenForOtherOperation.row.reason;
    const remedy = isRestricted ? '' : ': use one of a service user with the role IAM_OWNER';
    return `${place} does not permit this to the token of ${option} (${reason})${remedy}`;
  },
  carries: (_place: string, _option: string, _reason: string, cause?: unknown) => ({ cause }),
  example: ['https://id.example.com', '--token-file', 'No matching permissions found (AUTH-5mWD2)'],
});

export const placeRefused = defineError('FAILED_PRECONDITION', 'PLACE_REFUSED', {
  text: (place: string, reason: string, _cause?: unknown) => `${place} refuses: ${reason}`,
  carries: (_place: string, _reason: string, cause?: unknown) => ({ cause }),
  example: [
    'https://id.example.com',
    'orgs[0].humanUsers[3].user.userName: missing or empty: expected 1 to 200 characters',
  ],
});

export const organisationTooLarge = defineError('FAILED_PRECONDITION', 'ORGANISATION_TOO_LARGE', {
  text: (place: string, orgId: string, bytes: number) =>
    `${place} takes at most ${bytes} bytes in a request, and the settings, projects and actions of organisation ${orgId} have more: import into its database instead (--to firestore:PROJECT or sqlite:DIR)`,
  example: ['https://id.example.com', '163840776835432345', 32_000_000],
});

export const formTooLarge = defineError('FAILED_PRECONDITION', 'FORM_TOO_LARGE', {
  text: (place: string) =>
    `the export of ${place} is larger than a response may be, and the form for ZITADEL has no pages: export its database (firestore:PROJECT/DATABASE or sqlite:DIR), or fewer organisations (--org)`,
  example: ['https://id.example.com'],
});

export const trialTooLarge = defineError('FAILED_PRECONDITION', 'TRIAL_TOO_LARGE', {
  text: (place: string, bytes: number) =>
    `${place} takes at most ${bytes} bytes in a request, and a trial is one request: leave --dry-run out, or try the import with fewer organisations (--org)`,
  example: ['https://id.example.com', 32_000_000],
});

export const placeFailed = defineError('UNAVAILABLE', 'PLACE_FAILED', {
  text: (place: string, reason: string, _cause?: unknown) => `${place} failed: ${reason}`,
  carries: (_place: string, _reason: string, cause?: unknown) => ({ cause }),
  advice: 'repeat the command',
  example: ['https://id.example.com', 'the database is unavailable'],
});

export const placeBroke = defineError('UNAVAILABLE', 'PLACE_BROKE_OFF', {
  text: (place: string, reason: string) => `${place} broke off during its export (${reason})`,
  advice: 'repeat the command',
  example: ['https://id.example.com', 'ECONNRESET'],
});

export const placeLost = defineError('UNAVAILABLE', 'PLACE_LOST', {
  text: (place: string, reason: string) => `${place} failed: the connection broke before the result (${reason})`,
  advice: 'repeat the command',
  example: ['https://id.example.com', 'ECONNRESET'],
});

export const sourceInvalid = defineError('FAILED_PRECONDITION', 'SOURCE_INVALID', {
  text: (place: string, reason: string) =>
    `${place} is not an intact export file: ${reason}; export it again, or correct it`,
  example: ['north.json', 'unexpected end of JSON input'],
});

export const sourceForeign = defineError('FAILED_PRECONDITION', 'SOURCE_FOREIGN', {
  text: (place: string, reason: string) => `${place} is ${reason}`,
  example: ['north.json', 'an HTML page, not an export file: check the address and the token'],
});

export const exportDamaged = defineError('FAILED_PRECONDITION', 'EXPORT_DAMAGED', {
  text: (place: string, reason: string) => `${place} returned a damaged export (${reason})`,
  advice:
    'check that the address leads to the instance, and that no gateway answers in its place, or cuts or changes responses, then repeat the command',
  example: ['https://id.example.com', 'manifest.counts.humanUsers: count mismatch: 20 in the manifest, 19 in the file'],
});

export const sourceMissing = defineError('NOT_FOUND', 'SOURCE_MISSING', {
  text: (place: string) => `${place} does not exist: check the name`,
  example: ['north.json'],
});

export const storageFull = defineError('RESOURCE_EXHAUSTED', 'STORAGE_FULL', {
  text: (place: string) => `no space left for ${place}: free some, or choose another place; nothing is left there`,
  example: ['/backups/north.json'],
});

export const outputIncomplete = defineError('FAILED_PRECONDITION', 'OUTPUT_INCOMPLETE', {
  text: (code: string) =>
    `standard output cannot be written (${code}): what was printed is incomplete; what the command changed remains`,
  example: ['ENOSPC'],
});

export const credentialsMissing = defineError('UNAUTHENTICATED', 'CREDENTIALS_MISSING', {
  text: (place: string) =>
    `no credentials for ${place}: specify a key file with --credentials-file, or run gcloud auth application-default login`,
  example: ['gs://exports/north.json'],
});

const directory = './identity-migration-2026-11-22T10-35-12Z';

export const migrationMissing = defineError('NOT_FOUND', 'MIGRATION_MISSING', {
  text: (path: string) => `no migration in ${path}: specify its directory with --run-dir`,
  example: [directory],
});

export const migrationRunning = defineError('ABORTED', 'MIGRATION_RUNNING', {
  text: (path: string, pid: string) =>
    `process ${pid} works on the migration in ${path}: wait until it ends, or stop it`,
  example: [directory, '4711'],
});

export const migrationUnfinished = defineError('FAILED_PRECONDITION', 'MIGRATION_UNFINISHED', {
  text: (path: string, next: string | undefined) =>
    next === undefined
      ? `nothing was moved by the migration in ${path}, so there is no result`
      : `the migration in ${path} has no result yet: continue with ${next}`,
  example: [directory, `identity migrate resume --run-dir ${directory}`],
});

export const migrationStopped = defineError('UNAVAILABLE', 'MIGRATION_STOPPED', {
  text: (problem: string, next: string) => `${problem}; continue with ${next}`,
  example: [
    'https://id.example.com cannot be reached (ECONNREFUSED)',
    `identity migrate resume --run-dir ${directory}`,
  ],
});

export const migrationTokenTooNarrow = defineError('PERMISSION_DENIED', 'MIGRATION_TOKEN_TOO_NARROW', {
  text: (place: string, operation: string) =>
    `the token for ${place} does not permit ${operation}s: use one of a service user with the role IAM_OWNER, whose --only (if any) includes it`,
  example: ['https://id.example.com', 'export'],
});

export const zitadelCallFailed = defineError('UNKNOWN', 'ZITADEL_CALL_FAILED', {
  text: (url: string, call: string, status: number, message: string) =>
    `${url} fails ${call} with ${status}: ${message}`,
  example: ['https://zitadel.example.com', 'POST /admin/v1/export', 500, 'An internal error occurred'],
});

export const zitadelCannotExport = defineError('UNKNOWN', 'ZITADEL_CANNOT_EXPORT', {
  text: (url: string, orgId: string, status: number, message: string) =>
    `${url} fails to export organisation ${orgId} with ${status}: ${message}; exclude it with --exclude-org ${shellWord(orgId)}`,
  example: ['https://zitadel.example.com', '330000000000000001', 500, 'An internal error occurred (QUERY-h9TeF)'],
});

export const zitadelContextMissing = defineError('FAILED_PRECONDITION', 'ZITADEL_CONTEXT_MISSING', {
  text: (url: string, orgId: string, reason: string) =>
    `${url} cannot be called for organisation ${orgId} (${reason}); exclude it with --exclude-org ${shellWord(orgId)}`,
  example: ['https://zitadel.example.com', ' 330000000000000001', 'no HTTP header can contain its id'],
});

export const zitadelHeaderLost = defineError('FAILED_PRECONDITION', 'ZITADEL_HEADER_LOST', {
  text: (url: string, orgId: string, answered: string) =>
    `${url} does not receive the header x-zitadel-orgid: it answers for organisation ${answered} instead of ${orgId}; let the proxy before it pass the header on, or specify an address without that proxy`,
  example: ['https://zitadel.example.com', '330000000000000001', '330000000000000002'],
});

export const zitadelStatesUnknown = defineError('FAILED_PRECONDITION', 'ZITADEL_STATES_UNKNOWN', {
  text: (url: string, orgId: string, states: string, reason: string) =>
    `${url} exports no states, and does not return these of organisation ${orgId}: ${states} (${reason}); permit the token's user to read users, exclude the organisation with --exclude-org ${shellWord(orgId)}, or let unknown states count as active with --unknown-states active`,
  example: [
    'https://zitadel.example.com',
    '330000000000000001',
    'of 12 people such as 330000000000000101, and of 1 service user such as 330000000000000201',
    'No matching permissions found (AUTH-5mWD2)',
  ],
});

export const zitadelHistoryIncomplete = defineError('FAILED_PRECONDITION', 'ZITADEL_HISTORY_INCOMPLETE', {
  text: (url: string) =>
    `${url} does not return its oldest events, so it cannot be known who owns the ids of the file; set AuditLogRetention to 0 there for the time of the import`,
  example: ['https://zitadel.example.com'],
});

export const zitadelExportTooSlow = defineError('DEADLINE_EXCEEDED', 'ZITADEL_EXPORT_TOO_SLOW', {
  text: (orgId: string, seconds: number | undefined) => {
    const [problem, remedy] =
      seconds === undefined
        ? ['was ended by a gateway (504)', 'let the gateway wait longer']
        : [`takes more than ${seconds} s`, 'allow more time with --timeout'];
    return `the export of organisation ${orgId} ${problem}: ${remedy}, or export it without password hashes, which is four times as fast`;
  },
  example: ['330000000000000001', 60],
});

export const zitadelImportTooSlow = defineError('DEADLINE_EXCEEDED', 'ZITADEL_IMPORT_TOO_SLOW', {
  text: (record: string, seconds: number) =>
    `the import of a single record, ${record}, takes more than ${seconds} s: find out what delays ZITADEL or its database, then repeat the command`,
  example: ['human_user 330000000000000201', 60],
});
