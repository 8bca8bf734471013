// No text of these errors contains a part of a key.

import { defineError, REPEAT_COMMAND, RETRY, RETRY_LATER } from './identityError.ts';

export const storeUnavailable = defineError('UNAVAILABLE', 'STORE_UNAVAILABLE', {
  text: 'the database is unavailable',
  remedy: RETRY,
});

// The audit trail cannot be written, for example because the disk of a self-hosted instance is full, or because the
// platform rejects log lines.
export const auditUnwritable = defineError('UNAVAILABLE', 'AUDIT_UNWRITABLE', {
  text: 'the audit trail is not writable, so the operation was not performed: free disk space, or correct the permissions of the data directory',
});

export const storeReadOnly = defineError('FAILED_PRECONDITION', 'STORE_READ_ONLY', {
  text: 'the database in {directory} cannot be written, and each call must be recorded there: correct the permissions, or restore a backup into a writable directory',
});

export const storeContention = defineError('ABORTED', 'STORE_CONTENTION', {
  text: 'write conflict with concurrent changes to the same records',
  remedy: RETRY,
});

export const instanceBusy = defineError('UNAVAILABLE', 'INSTANCE_BUSY', {
  retryAfterSeconds: 30,
  text: '{operation}, which {caller} began at {since}, must end before this call can begin',
  remedy: RETRY_LATER,
});

export const instanceLockLost = defineError('UNAVAILABLE', 'INSTANCE_LOCK_LOST', {
  retryAfterSeconds: 30,
  text: 'this process was suspended for 30 seconds, and another call has acquired the lock of the instance',
  remedy: { http: 'retry the request, which continues the operation', command: REPEAT_COMMAND },
});

export const lockFileDamaged = defineError('UNAVAILABLE', 'LOCK_FILE_DAMAGED', {
  text: 'the lock of the instance cannot be taken, because {file} is damaged',
  remedy: 'stop all processes that use the data directory, then delete the file, which contains no data',
});

export const lockFileObstructed = defineError('UNAVAILABLE', 'LOCK_FILE_OBSTRUCTED', {
  text: 'the lock of the instance cannot be taken, because {path} is not a {kind}: move {path} out of the data directory',
});

export const storeFailed = defineError('INTERNAL', 'STORE_FAILED', {
  text: 'database error: {reason}',
});

export const snapshotEnded = defineError('ABORTED', 'SNAPSHOT_ENDED', {
  text: 'the snapshot has ended, because concurrent changes outgrew the log of the database',
  remedy: RETRY,
});

export const databaseFormatUnsupported = defineError('UNAVAILABLE', 'DATABASE_FORMAT_UNSUPPORTED', {
  text: 'the database has {format}, and this version needs format {supported}: run the version that wrote the database, or begin with an empty database',
});

export function formatText(format: number | undefined): string {
  return format === undefined || format === 0 ? 'no format' : `format ${format}`;
}

export const masterKeyMissing = defineError('UNAVAILABLE', 'MASTER_KEY_MISSING', {
  text: 'there is no master key, and the database has encrypted secrets: set IDENTITY_MASTER_KEY, or put master.key back into the data directory',
});

export const masterKeyUnknown = defineError('UNAVAILABLE', 'MASTER_KEY_UNKNOWN', {
  text: "the database's secrets are encrypted with the master key {id}, which is not among the specified keys: specify the key of this database; `identity rekey` keeps the earlier key of a data directory in its file master.key.{id}",
});

export const masterKeysChanging = defineError('ABORTED', 'MASTER_KEYS_CHANGING', {
  text: 'another command is changing the master keys: if no such command is running, a killed command has left {file}, which you can delete',
});

export const masterKeyInvalid = defineError('FAILED_PRECONDITION', 'MASTER_KEY_INVALID', {
  text: 'invalid master key in {place}: write 32 bytes as 44 characters of base64 or 64 of hex, several keys separated by commas or lines, the newest first',
});
