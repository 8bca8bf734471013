// Errors of a database, its audit trail, and the keys that encrypt its secrets. No text contains any part of a key.

import { defineError } from './identityError.ts';

export const storeUnavailable = defineError('UNAVAILABLE', 'STORE_UNAVAILABLE', {
  text: 'the database is unavailable: retry the request',
  carries: (cause: unknown) => ({ cause }),
});

// If a self-hosted instance's disk is full, or the platform no longer accepts log lines.
export const auditUnwritable = defineError('UNAVAILABLE', 'AUDIT_UNWRITABLE', {
  text: 'the audit trail cannot be written, so the operation was not performed: free disk space, or correct the permissions of the data directory',
  carries: (cause: unknown) => ({ cause }),
});

export const storeReadOnly = defineError('FAILED_PRECONDITION', 'STORE_READ_ONLY', {
  text: (directory: string, _cause: unknown) =>
    `the database in ${directory} cannot be written, and each call is put on record there: correct the permissions, or restore a backup into a writable directory`,
  example: ['/data', undefined],
  carries: (_directory, cause) => ({ cause }),
});

export const storeContention = defineError('ABORTED', 'STORE_CONTENTION', {
  text: 'write conflict with concurrent changes to the same records: retry the request',
  carries: (cause: unknown) => ({ cause }),
});

export const storeFailed = defineError('INTERNAL', 'STORE_FAILED', {
  text: (reason: string, _cause: unknown) => `database error: ${reason}`,
  example: ['PERMISSION_DENIED', undefined],
  carries: (_reason, cause) => ({ cause }),
});

export const snapshotEnded = defineError('ABORTED', 'SNAPSHOT_ENDED', {
  text: 'the snapshot has ended, because concurrent changes outgrew the log of the database: retry the request',
});

export const databaseFormatUnsupported = defineError('UNAVAILABLE', 'DATABASE_FORMAT_UNSUPPORTED', {
  text: (format: number | undefined, supported: number) =>
    `the database has ${format === undefined ? 'no format' : `format ${format}`}, and this version needs format ${supported}: run the version that has written it, or begin with an empty database`,
  example: [6, 5],
});

export const masterKeyMissing = defineError('UNAVAILABLE', 'MASTER_KEY_MISSING', {
  text: 'there is no master key, and the database has encrypted secrets: set IDENTITY_MASTER_KEY, or put master.key back into the data directory',
});

export const masterKeyUnknown = defineError('UNAVAILABLE', 'MASTER_KEY_UNKNOWN', {
  text: (id: string) =>
    `the database's secrets are encrypted with the master key ${id}, which is not among the given keys: give the key that belongs to this database; identity rekey keeps an earlier one in master.key.${id}`,
  example: ['5hVZr0mJ2wQx'],
});

export const masterKeysChanging = defineError('ABORTED', 'MASTER_KEYS_CHANGING', {
  text: (file: string) =>
    `another command changes the master keys: if none is running, one was killed, and you can delete ${file}`,
  example: ['/data/master.key.partial'],
});

export const masterKeyInvalid = defineError('FAILED_PRECONDITION', 'MASTER_KEY_INVALID', {
  text: (place: string) =>
    `invalid master key in ${place}: write 32 bytes as 44 characters of base64 or 64 of hex, several keys separated by commas or lines, the newest first`,
  example: ['/data/master.key'],
});
