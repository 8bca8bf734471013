import { defineError } from './identityError.ts';

// Errors of calls to a ZITADEL, as the source or target of a migration. They appear on standard error.

export const zitadelCallFailed = defineError({
  code: 'UNKNOWN',
  text: (url: string, call: string, status: number, message: string) =>
    `${url} fails ${call} with ${status}: ${message}`,
  example: ['https://zitadel.example.com', 'POST /admin/v1/export', 500, 'An internal error occurred'],
  when: 'A ZITADEL returns an error that the migration does not expect.',
  remedy: "Look up the error in the ZITADEL's log.",
});

export const zitadelExportTooSlow = defineError({
  code: 'DEADLINE_EXCEEDED',
  text: (orgId: string, seconds: number) =>
    `the export of organisation ${orgId} takes more than ${seconds} s, after which gateways cut it off: export it without password hashes, which is four times as fast`,
  example: ['330000000000000001', 60],
  when: 'A ZITADEL does not return the export of one organisation in time. It exports about 1,400 people per second with hashes.',
  remedy: 'Export without password hashes and TOTP seeds, or when ZITADEL has less to do.',
});

export const zitadelImportTooSlow = defineError({
  code: 'DEADLINE_EXCEEDED',
  text: (record: string, seconds: number) => `the import of a single record, ${record}, takes more than ${seconds} s`,
  example: ['human_user 330000000000000201', 60],
  when: 'A ZITADEL does not import one record in time, although each larger request was halved.',
  remedy: 'Find out what delays ZITADEL or its database, then repeat the command.',
});
