import { shellWord } from '../shellWord.ts';
import { defineError } from './identityError.ts';

// Errors of the `identity` command about places, and migrations between them. No text holds a token.

export const placeUnreachable = defineError('UNAVAILABLE', 'PLACE_UNREACHABLE', {
  text: (place: string, reason: string) =>
    `${place} cannot be reached (${reason}): check the address, and that the instance runs`,
  example: ['https://id.example.com', 'ECONNREFUSED'],
  when: 'The host is unknown, nothing listens there, or ZITADEL stayed unavailable through all retries.',
});

export const placeUntrusted = defineError('FAILED_PRECONDITION', 'PLACE_UNTRUSTED', {
  text: (place: string, code: string) =>
    `the certificate of ${place} is not trusted (${code}): correct it there, or set NODE_EXTRA_CA_CERTS to the PEM file of its authority`,
  example: ['https://id.example.com', 'SELF_SIGNED_CERT_IN_CHAIN'],
  when: "Neither Node nor the system trusts the certificate's authority, it has expired, or it names another host. No token was sent.",
  remedy: "Set `NODE_EXTRA_CA_CERTS` to the PEM file of the authority's certificate, or renew the certificate.",
});

export const placeProtocolWrong = defineError('FAILED_PRECONDITION', 'PLACE_PROTOCOL_WRONG', {
  text: (place: string, problem: string) => `${place} ${problem}`,
  example: ['http://127.0.0.1:8443', 'expects TLS: specify https://127.0.0.1:8443'],
  when: 'The address begins with `http:` and its port expects TLS, or with `https:` and its port has none.',
});

export const placeNotKnown = defineError('FAILED_PRECONDITION', 'PLACE_NOT_RECOGNISED', {
  text: (place: string, reason: string) =>
    `${place} is not an instance of this service (${reason}), nor a ZITADEL instance: check the address, without a path`,
  example: ['https://www.example.com', '/openapi.json is answered with 404'],
  when: '`/openapi.json` of the address does not describe exports and imports of this service, and `/.well-known/openid-configuration` not ZITADEL.',
  remedy: 'Check the address. Behind a proxy, `/openapi.json` must reach the instance.',
});

export const placeTokenRejected = defineError('UNAUTHENTICATED', 'PLACE_TOKEN_REJECTED', {
  text: (place: string, option: string, reason: string) =>
    `${place} rejects the token of ${option} (${reason}): check that its user is active, or create another one there, and store it alone in that file`,
  example: ['https://id.example.com', '--token-file', 'invalid token (AUTH-7fs1e)'],
  carries: (_place, option) => ({ option }),
  when: 'The token has expired, was revoked, is of another instance, or its user is locked or inactive.',
  remedy: 'Create a token with `identity pat create`; in ZITADEL, for a service user with the role IAM_OWNER.',
});

export const placeTokenForbidden = defineError('PERMISSION_DENIED', 'PLACE_TOKEN_FORBIDDEN', {
  text: (place: string, option: string, reason: string, _cause?: unknown) =>
    // What the reason says of a restriction is its remedy.
    `${place} does not permit this to the token of ${option} (${reason})${reason.startsWith('the token is valid for') ? '' : ': use one of a service user with the role IAM_OWNER'}`,
  carries: (_place: string, _option: string, _reason: string, cause?: unknown) => ({ cause }),
  example: ['https://id.example.com', '--token-file', 'No matching permissions found (AUTH-5mWD2)'],
  when: 'The user of the token lacks the role, or the token is restricted to other operations.',
  remedy: 'Grant the role with `identity member add`; in ZITADEL, make the user an administrator of the instance.',
});

export const placeRefused = defineError('FAILED_PRECONDITION', 'PLACE_REFUSED', {
  text: (place: string, reason: string, _cause?: unknown) => `${place} refuses: ${reason}`,
  carries: (_place: string, _reason: string, cause?: unknown) => ({ cause }),
  example: ['https://id.example.com', 'orgs[0].humanUsers[3].user.userName: value is required'],
  when: 'The file is damaged or invalid, or above a limit of the target. Nothing was written.',
});

export const placeFailed = defineError('UNAVAILABLE', 'PLACE_FAILED', {
  text: (place: string, reason: string, _cause?: unknown) => `${place} failed: ${reason}`,
  carries: (_place: string, _reason: string, cause?: unknown) => ({ cause }),
  advice: 'repeat the command',
  example: ['https://id.example.com', 'the database is unavailable'],
  when: 'An instance returns an error of its own, or the time limit of the call has expired.',
  remedy: 'Repeat the command: an import resumes.',
});

export const placeBroke = defineError('UNAVAILABLE', 'PLACE_BROKE_OFF', {
  text: (place: string, reason: string) => `${place} broke off in the middle of its export (${reason})`,
  advice: 'repeat the command',
  example: ['https://id.example.com', 'ECONNRESET'],
  when: 'The source has ended, or the connection to it. What was read is not complete, and is not kept.',
});

export const placeLost = defineError('UNAVAILABLE', 'PLACE_LOST', {
  text: (place: string, reason: string) => `${place} failed: the connection broke before the result (${reason})`,
  advice: 'repeat the command',
  example: ['https://id.example.com', 'ECONNRESET'],
  when: 'The target of an import has ended, or the connection to it. What it has imported so far stays.',
  remedy:
    'Repeat the command: an import resumes. A migration does so by itself, for a minute or as long as its `--timeout`.',
});

export const sourceInvalid = defineError('FAILED_PRECONDITION', 'SOURCE_INVALID', {
  text: (place: string, reason: string) => `${place} is no intact export file: ${reason}`,
  example: ['north.json', 'unexpected end of JSON input'],
  when: 'The content is not JSON, is incomplete, was changed after its export, or has another structure than an export file.',
  remedy: 'Export again.',
});

export const exportDamaged = defineError('FAILED_PRECONDITION', 'EXPORT_DAMAGED', {
  text: (place: string, reason: string) => `${place} returned no intact export (${reason})`,
  advice:
    'check that the address leads to the instance, and that no gateway answers in its place, or cuts or changes responses, then repeat the command',
  example: ['https://id.example.com', 'manifest.counts.humanUsers: count mismatch: 20 in the manifest, 19 in the file'],
  when: 'The response to an export is not JSON, is cut off, lacks the manifest, or has other records than the manifest declares. No file and no object is left of it; what standard output has of it is no export.',
});

export const sourceMissing = defineError('NOT_FOUND', 'SOURCE_MISSING', {
  text: (place: string) => `${place} does not exist: check the name`,
  example: ['north.json'],
  when: 'There is no such file.',
});

export const storageFull = defineError('RESOURCE_EXHAUSTED', 'STORAGE_FULL', {
  text: (place: string) => `no space left for ${place}: free some, or choose another place; nothing is left there`,
  example: ['/backups/north.json'],
  when: 'The disk is full, or a limit for the size of files is reached.',
});

export const outputIncomplete = defineError('FAILED_PRECONDITION', 'OUTPUT_INCOMPLETE', {
  text: (code: string) =>
    `standard output cannot be written (${code}): what was printed is incomplete; what the command changed remains`,
  example: ['ENOSPC'],
  when: 'Standard output goes to a full disk, or to a program that ended before it had a whole export.',
});

export const credentialsMissing = defineError('UNAUTHENTICATED', 'CREDENTIALS_MISSING', {
  text: (place: string) =>
    `no credentials for ${place}: specify a key file with --credentials-file, or run gcloud auth application-default login`,
  example: ['gs://exports/north.json'],
  when: 'A bucket is a place, and there are neither a key file nor application default credentials.',
});

const directory = './identity-migration-2026-11-22T10-35-12Z';

export const migrationMissing = defineError('NOT_FOUND', 'MIGRATION_MISSING', {
  text: (path: string) => `no migration in ${path}: name its directory with --run-dir`,
  example: [directory],
  when: '`identity migrate resume`, `status` or `cleanup` finds no run directory.',
  remedy: 'Change to the directory in which the migration was started, or specify `--run-dir`.',
});

export const migrationRunning = defineError('ABORTED', 'MIGRATION_RUNNING', {
  text: (path: string, pid: string) =>
    `process ${pid} works on the migration in ${path}: wait until it ends, or stop it`,
  example: [directory, '4711'],
  when: 'A migration is resumed or cleaned up while another process of this machine works on it.',
});

export const migrationUnfinished = defineError('FAILED_PRECONDITION', 'MIGRATION_UNFINISHED', {
  text: (path: string, next: string | undefined) =>
    next === undefined
      ? `nothing was moved by the migration in ${path}, so there is no result`
      : `the migration in ${path} has no result yet: continue with ${next}`,
  example: [directory, `identity migrate resume --run-dir ${directory}`],
  when: 'A report is asked for before the end of a migration, or of one that had nothing to move.',
  remedy: 'Resume the migration, and repeat the command. Without anything to move there is nothing to report.',
});

export const migrationStopped = defineError('UNAVAILABLE', 'MIGRATION_STOPPED', {
  text: (problem: string, next: string) => `${problem}; continue with ${next}`,
  example: [
    'https://id.example.com cannot be reached (ECONNREFUSED)',
    `identity migrate resume --run-dir ${directory}`,
  ],
  when: 'A step of a migration has failed. What it has done so far stays, and is on record in the run directory.',
  remedy: 'Remove the cause, which the message names, and resume the migration.',
});

export const migrationTokenTooNarrow = defineError('PERMISSION_DENIED', 'MIGRATION_TOKEN_TOO_NARROW', {
  text: (place: string, operation: string) =>
    `the token for ${place} does not permit ${operation}s: use one of a service user with the role IAM_OWNER, whose --only (if any) includes it`,
  example: ['https://id.example.com', 'export'],
  when: 'The user of the token lacks the role, or the token is restricted to other operations. A migration exports both sides, to compare them at its end.',
  remedy: 'Create the token for a source with `--only export`, that for a target with `--only export,import`.',
});

export const zitadelCallFailed = defineError('UNKNOWN', 'ZITADEL_CALL_FAILED', {
  text: (url: string, call: string, status: number, message: string) =>
    `${url} fails ${call} with ${status}: ${message}`,
  example: ['https://zitadel.example.com', 'POST /admin/v1/export', 500, 'An internal error occurred'],
  when: 'A ZITADEL returns an error that the migration does not expect.',
  remedy: "Look up the error in the ZITADEL's log.",
});

export const zitadelCannotExport = defineError('UNKNOWN', 'ZITADEL_CANNOT_EXPORT', {
  text: (url: string, orgId: string, status: number, message: string) =>
    `${url} fails to export organisation ${orgId} with ${status}: ${message}; exclude it with --exclude-org ${shellWord(orgId)}`,
  example: ['https://zitadel.example.com', '330000000000000001', 500, 'An internal error occurred (QUERY-h9TeF)'],
  when: 'A ZITADEL holds an organisation that it accepted and cannot export, or of which it returns more than 64 MB over REST or 128 MB over gRPC-Web.',
  remedy:
    '`identity inspect` lists all such organisations. An export without password hashes and TOTP seeds is smaller.',
});

export const zitadelContextMissing = defineError('FAILED_PRECONDITION', 'ZITADEL_CONTEXT_MISSING', {
  text: (url: string, orgId: string, reason: string) =>
    `${url} cannot be called for organisation ${orgId} (${reason}); exclude it with --exclude-org ${shellWord(orgId)}`,
  example: [
    'https://zitadel.example.com',
    '330000000000000001',
    'it answers for organisation 330000000000000002 instead',
  ],
  when: "A ZITADEL takes the organisation of a call from the header `x-zitadel-orgid`, and that of the token's user where the header does not arrive. The id begins or ends with a blank or contains a control character, which no header can hold, or a proxy removes the header. Nothing was read or written for the organisation.",
  remedy: 'Let the proxy pass the header and its bytes as they are.',
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
  when: 'A ZITADEL of release 2 or 3 exports no states of organisations and users, and its search does not return them either. Nothing was written: deactivated and locked people could arrive active.',
});

export const zitadelExportTooSlow = defineError('DEADLINE_EXCEEDED', 'ZITADEL_EXPORT_TOO_SLOW', {
  text: (orgId: string, seconds: number) =>
    `the export of organisation ${orgId} takes more than ${seconds} s, after which gateways cut it off: export it without password hashes, which is four times as fast`,
  example: ['330000000000000001', 60],
  when: 'A ZITADEL does not return the export of one organisation in time. It exports about 1,400 people per second with hashes.',
  remedy: 'Export without password hashes and TOTP seeds, or when ZITADEL has less to do.',
});

export const zitadelImportTooSlow = defineError('DEADLINE_EXCEEDED', 'ZITADEL_IMPORT_TOO_SLOW', {
  text: (record: string, seconds: number) => `the import of a single record, ${record}, takes more than ${seconds} s`,
  example: ['human_user 330000000000000201', 60],
  when: 'A ZITADEL does not import one record in time, although each larger request was halved.',
  remedy: 'Find out what delays ZITADEL or its database, then repeat the command.',
});
