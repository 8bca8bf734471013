import { closeSync, mkdirSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import { type Connection, connect } from './connection.ts';
import { bringUpToDate } from './schema.ts';
import { isBusy } from './toStoreError.ts';

const OPEN_TIMEOUT_MILLISECONDS = 5_000;
const PAUSE_MILLISECONDS = 10;

/**
 * Makes the database file with its table, or brings an older one up to date. What it makes only its owner may read, since
 * it holds hashes; SQLite gives the files beside it the same permissions.
 * @throws Error of SQLite or of the file system
 */
export function prepareDatabaseFile(file: string): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  closeSync(openSync(file, 'a', 0o600));
  const connection = connect({ file, busyTimeout: OPEN_TIMEOUT_MILLISECONDS });
  try {
    enterWalMode(connection);
    connection.execute('BEGIN IMMEDIATE');
    bringUpToDate(connection);
    connection.execute('COMMIT');
  } finally {
    connection.close();
  }
}

// SQLite does not wait here for others that open the same new file: two that waited for each other would never end.
function enterWalMode(connection: Connection): void {
  const giveUpAt = performance.now() + OPEN_TIMEOUT_MILLISECONDS;
  for (;;) {
    try {
      connection.execute('PRAGMA journal_mode = WAL');
      return;
    } catch (reason) {
      if (!isBusy(reason) || performance.now() > giveUpAt) throw reason;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, PAUSE_MILLISECONDS);
    }
  }
}
