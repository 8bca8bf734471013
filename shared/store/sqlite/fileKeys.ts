import { type KeyRecord, keyRecordKey, keyRecordWrite, parseKeyRecord, requireKeys } from '../secrets/keyRecord.ts';
import type { Keyring } from '../secrets/keyring.ts';
import type { MasterKey } from '../secrets/masterKey.ts';
import type { Connection } from './connection.ts';
import { applyWrites, nextVersion, readMany } from './documents.ts';

/** Reads which master keys a database has; undefined for one of an older format. */
export function readFileKeys(connection: Connection): KeyRecord | undefined {
  return parseKeyRecord(readMany(connection, [keyRecordKey], ['body']).documents[0]);
}

/**
 * Returns the key of the database, and settles that of a new database or an older format. Requires an open transaction,
 * so that of two processes only one creates the key.
 * @param hasClearText whether the file may hold secrets in clear
 * @throws IdentityError UNAVAILABLE for a missing or wrong key
 */
export function settleFileKeys(connection: Connection, keyring: Keyring, hasClearText: boolean): MasterKey {
  const stored = readFileKeys(connection);
  if (stored !== undefined) return requireKeys(stored, keyring);
  const key = keyring.newest();
  const record: KeyRecord = { ids: [key.id], ...(hasClearText ? { clearTextRemains: true } : {}) };
  applyWrites(connection, [keyRecordWrite(record, 'create')], nextVersion(connection));
  return key;
}

/**
 * Removes what a migration has left of secrets in clear: the file's free space and the write-ahead log.
 * @returns whether all of it is removed; other connections can prevent that until the file is opened again
 * @throws Error of SQLite
 */
export function eraseClearText(connection: Connection): boolean {
  connection.execute('VACUUM');
  if (!emptyLog(connection)) return false;
  connection.execute('BEGIN IMMEDIATE');
  const keys = readFileKeys(connection);
  if (keys !== undefined)
    applyWrites(connection, [keyRecordWrite({ ids: keys.ids }, 'update')], nextVersion(connection));
  connection.execute('COMMIT');
  return true;
}

/** Moves the write-ahead log into the file and empties it; returns whether no other connection prevented that. */
function emptyLog(connection: Connection): boolean {
  const row: unknown = connection.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get();
  return Array.isArray(row) && row[0] === 0;
}
