import { defineError } from './identityError.ts';

// Errors of a database, its audit trail, and the keys that encrypt its secrets. No text contains any part of a key.

export const storeUnavailable = defineError('UNAVAILABLE', 'STORE_UNAVAILABLE', {
  text: 'the database is unavailable: retry the request',
  carries: (cause: unknown) => ({ cause }),
  when: 'The database was unreachable, or locked, for as long as the service waits for it.',
  remedy: 'Retry the request. If it fails again, check the database.',
});

// Self-hosted where the disk is full; in the cloud where the platform no longer takes log lines.
export const auditUnwritable = defineError('UNAVAILABLE', 'AUDIT_UNWRITABLE', {
  text: 'the audit trail cannot be written, so the operation was not performed: free disk space, or correct the permissions of the data directory',
  carries: (cause: unknown) => ({ cause }),
  when: 'An export, import, removal or command could not be put on record before its first effect. Nothing left the service, and nothing was written.',
  remedy: "The service's log has the cause. Free disk space, or correct the permissions, and retry the request.",
});

export const storeReadOnly = defineError('FAILED_PRECONDITION', 'STORE_READ_ONLY', {
  text: (directory: string, _cause: unknown) =>
    `the database in ${directory} cannot be written, and each call is put on record there: correct the permissions, or restore a backup into a writable directory`,
  example: ['/data', undefined],
  carries: (_directory, cause) => ({ cause }),
  when: 'The directory of an embedded database, or a file in it, is read-only for the process, even for an export.',
});

export const storeContention = defineError('ABORTED', 'STORE_CONTENTION', {
  text: 'write conflict with concurrent changes to the same records: retry the request',
  carries: (cause: unknown) => ({ cause }),
  when: 'Each attempt of a transaction lost against other writers.',
  remedy: 'Retry the request; do not run two imports of the same file at once.',
});

export const storeFailed = defineError('INTERNAL', 'STORE_FAILED', {
  text: (reason: string, _cause: unknown) => `database error: ${reason}`,
  example: ['PERMISSION_DENIED', undefined],
  carries: (_reason, cause) => ({ cause }),
  when: "The database rejected an operation; the message ends with the database's status.",
  remedy:
    "Check the database: its status, disk space, and the service's access to it. The service's log has the cause.",
});

export const snapshotEnded = defineError('ABORTED', 'SNAPSHOT_ENDED', {
  text: 'the snapshot has ended, because concurrent changes outgrew the log of the database: retry the request',
  when: 'While an export or a dry run read the embedded database, others wrote more than its size and 56 MB.',
  remedy: 'Retry the request when the other imports are done.',
});

export const databaseFormatUnsupported = defineError('UNAVAILABLE', 'DATABASE_FORMAT_UNSUPPORTED', {
  text: (format: number | undefined, supported: number) =>
    `the database has ${format === undefined ? 'no format' : `format ${format}`}, and this version needs format ${supported}: run the version that has written it, or begin with an empty database`,
  example: [6, 5],
  when: 'Another version of this software has written the database. This version changes nothing there.',
  remedy:
    'Run the version that has written it. To move its organisations to this version, export them there, and import them into a new instance.',
});

export const masterKeyMissing = defineError('UNAVAILABLE', 'MASTER_KEY_MISSING', {
  text: 'there is no master key, and the database has encrypted secrets: set IDENTITY_MASTER_KEY, or put master.key back into the data directory',
  when: 'The database has secrets that are encrypted, or must be, and the process has no key.',
  remedy:
    'Self-hosted: put the copy of `master.key` back. In the cloud: give the function the variable. Without the key, only a backup whose key you have can be read.',
});

export const masterKeyUnknown = defineError('UNAVAILABLE', 'MASTER_KEY_UNKNOWN', {
  text: (id: string) =>
    `the database's secrets are encrypted with the master key ${id}, which is not among the given keys: give the key that belongs to this database`,
  example: ['5hVZr0mJ2wQx'],
  when: "The keys in `IDENTITY_MASTER_KEY` or `master.key` are another database's, or `identity rekey` has made a key current that this process does not have.",
  remedy:
    "Give the process the database's key. During a rotation it needs both keys: the new one first, then the old one.",
});

export const masterKeysChanging = defineError('ABORTED', 'MASTER_KEYS_CHANGING', {
  text: (file: string) =>
    `another command changes the master keys: if none is running, one was killed, and you can delete ${file}`,
  example: ['/data/master.key.partial'],
  when: 'Two commands create or rotate the master key of an instance at once, or one was killed while it wrote the key file.',
});

export const masterKeyInvalid = defineError('FAILED_PRECONDITION', 'MASTER_KEY_INVALID', {
  text: (place: string) =>
    `invalid master key in ${place}: write 32 bytes as 44 characters of base64 or 64 of hex, several keys separated by commas or lines, the newest first`,
  example: ['/data/master.key'],
  when: '`IDENTITY_MASTER_KEY` or a key file contains something other than keys.',
  remedy: 'Correct it. `openssl rand -base64 32` creates a key.',
});
