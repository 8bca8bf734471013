import { defineError, RejectedToken } from './identityError.ts';

// Errors of the `identity` command about the places between which it moves organisations. No text holds a token.

export const placeUnreachable = defineError({
  code: 'UNAVAILABLE',
  text: (place: string, reason: string) =>
    `${place} cannot be reached (${reason}): check the address, and that the instance runs`,
  example: ['https://id.example.com', 'ECONNREFUSED'],
  when: 'The host is unknown, nothing listens there, its certificate is not trusted, or ZITADEL stayed unavailable through all retries.',
  remedy: 'Check the address. `NODE_EXTRA_CA_CERTS` names a file with the certificates of a private authority.',
});

export const placeNotKnown = defineError({
  code: 'FAILED_PRECONDITION',
  text: (place: string, reason: string) =>
    `${place} is not an instance of this service (${reason}), nor a ZITADEL instance: check the address, without a path`,
  example: ['https://www.example.com', '/openapi.json is answered with 404'],
  when: '`/openapi.json` of the address does not describe exports and imports of this service, and `/.well-known/openid-configuration` not ZITADEL.',
  remedy: 'Check the address. Behind a proxy, `/openapi.json` must reach the instance.',
});

export const placeTokenRejected = defineError({
  code: 'UNAUTHENTICATED',
  text: (place: string, option: string, reason: string) =>
    `${place} rejects the token of ${option} (${reason}): create another one there, and store it alone in that file`,
  example: ['https://id.example.com', '--token-file', 'invalid token (AUTH-7fs1e)'],
  carries: (_place, option) => ({ cause: new RejectedToken(option) }),
  when: 'The token has expired, was revoked, or is of another instance.',
  remedy:
    'Create a token on that instance with `identity pat create`; in ZITADEL, a personal access token of a service user with the role IAM_OWNER.',
});

export const placeTokenForbidden = defineError({
  code: 'PERMISSION_DENIED',
  text: (place: string, option: string, reason: string) =>
    `${place} does not permit this to the token of ${option} (${reason}): use one of a service user with the role IAM_OWNER`,
  example: ['https://id.example.com', '--token-file', 'No matching permissions found (AUTH-5mWD2)'],
  when: 'The user of the token lacks the role, or the token is restricted to other operations or organisations.',
  remedy:
    'Give the service user the role with `identity member add`, or create a token with `identity pat create`; in ZITADEL, make the user an administrator of the instance.',
});

export const placeRefused = defineError({
  code: 'FAILED_PRECONDITION',
  text: (place: string, reason: string) => `${place} refuses: ${reason}`,
  example: ['https://id.example.com', 'orgs[0].humanUsers[3].user.userName: value is required'],
  when: 'The file is damaged or invalid, or above a limit of the target. Nothing was written.',
  remedy: 'Correct the field or limit that the message names.',
});

export const placeFailed = defineError({
  code: 'UNAVAILABLE',
  text: (place: string, reason: string) => `${place} failed: ${reason}: repeat the command`,
  example: ['https://id.example.com', 'the database is unavailable'],
  when: 'An instance returns an error of its own, or the time limit of the call has expired.',
  remedy: 'Repeat the command: an import resumes.',
});

export const placeBroke = defineError({
  code: 'UNAVAILABLE',
  text: (place: string, reason: string) =>
    `${place} broke off in the middle of its export (${reason}): repeat the command`,
  example: ['https://id.example.com', 'ECONNRESET'],
  when: 'The source has ended, or the connection to it. What was read is not complete, and is not kept.',
  remedy: 'Repeat the command.',
});

export const sourceInvalid = defineError({
  code: 'FAILED_PRECONDITION',
  text: (place: string, reason: string) => `${place} is no export file: ${reason}`,
  example: ['north.json', 'unexpected end of JSON input'],
  when: 'The content is not JSON, is incomplete, or has another structure than an export file.',
  remedy: 'Export again.',
});

export const sourceMissing = defineError({
  code: 'NOT_FOUND',
  text: (place: string) => `${place} does not exist: check the name`,
  example: ['north.json'],
  when: 'There is no such file.',
  remedy: 'Check the name.',
});

export const partsUnavailable = defineError({
  code: 'FAILED_PRECONDITION',
  text: (place: string) =>
    `${place} keeps no state for an export in parts: enable point-in-time recovery, and repeat the command two hours later`,
  example: ['firestore:my-project/north'],
  when: 'The database has no point-in-time recovery, or it was enabled less than two hours ago.',
  remedy: 'Enable point-in-time recovery of the database, or export without `--parts`.',
});

export const partsOfAnother = defineError({
  code: 'FAILED_PRECONDITION',
  text: (plan: string) => `${plan} belongs to an export of another source or with other options: choose another path`,
  example: ['gs://exports/north.json.plan-0001.json'],
  when: 'An export in parts to the same path was begun or finished from another database, or with other options.',
  remedy: 'Choose another path, or repeat the command with the options of that export.',
});

export const partsFinished = defineError({
  code: 'ALREADY_EXISTS',
  text: (document: string, readTime: string) =>
    `${document} is a finished export as of ${readTime} and is never overwritten: choose another path`,
  example: ['gs://exports/north.json', '2026-01-02T03:04:00.000Z'],
  when: 'An export in parts to the same path is finished, and another run has made it.',
  remedy: 'Choose another path for each export, for example with the date.',
});

export const tasksMissing = defineError({
  code: 'UNAVAILABLE',
  text: (indexes: readonly number[], count: number) =>
    `waiting for task ${indexes.join(', ')} of ${count}, without a sign of it: run all tasks at the same time, and repeat what failed`,
  example: [[2], 4],
  when: 'A task of a divided import waits for another one at the end of a phase, which was not started or has failed.',
  remedy: 'Run as many tasks in parallel as there are tasks. Start a task that has failed again: it resumes.',
});

export const taskDiffers = defineError({
  code: 'FAILED_PRECONDITION',
  text: (index: number) =>
    `task ${index} imports another file, or with other options: start all tasks alike, with a new CLOUD_RUN_EXECUTION`,
  example: [2],
  when: 'The tasks of a divided import have different sources or options, or an earlier import had the same CLOUD_RUN_EXECUTION.',
  remedy:
    'Start all tasks with the same source and options, and with a CLOUD_RUN_EXECUTION that no earlier import had.',
});

export const storageFull = defineError({
  code: 'RESOURCE_EXHAUSTED',
  text: (place: string) => `no space left for ${place}: free some, or choose another place; nothing is left there`,
  example: ['/backups/north.json'],
  when: 'The disk is full, or a limit for the size of files is reached.',
  remedy: 'Free space, or choose another place.',
});

export const credentialsMissing = defineError({
  code: 'UNAUTHENTICATED',
  text: (place: string) =>
    `no credentials for ${place}: specify a key file with --credentials-file, or run gcloud auth application-default login`,
  example: ['gs://exports/north.json'],
  when: 'A bucket is a place, and there are neither a key file nor application default credentials.',
  remedy: 'Specify `--credentials-file`, or set up application default credentials.',
});
