import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { LogFile } from '../../../shared/store/sqlite/logFile.ts';
import { connectSqlite, KEPT_LOG_BYTES, type SqliteConnection } from '../../../shared/store/sqlite/sqliteConnection.ts';
import { temporaryDirectory } from '../../support/processes/temporaryDirectory.ts';

const FRAME_BYTES = 24 + 4_096;

async function openLog() {
  const directory = await temporaryDirectory();
  const file = join(directory.path, 'test.sqlite');
  const connection = connectSqlite({ file, busyTimeout: 0 });
  connection.execute('PRAGMA journal_mode = WAL; CREATE TABLE numbers (value INTEGER PRIMARY KEY, text TEXT)');
  const log = new LogFile(connection);
  onTestFinished(async () => {
    log.close();
    connection.close();
    await directory.remove();
  });
  return { connection, log };
}

const insert = (connection: SqliteConnection, rows: number) =>
  connection.execute(
    `WITH RECURSIVE counter(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM counter WHERE n < ${rows})
     INSERT INTO numbers (text) SELECT hex(randomblob(500)) FROM counter`,
  );

/** Returns SQLite's own count of the bytes of the log's frames, and moves them into the database. */
function moved(connection: SqliteConnection): number {
  const row: unknown = connection.prepare('PRAGMA wal_checkpoint(PASSIVE)').get();
  return 32 + Number(Array.isArray(row) ? row[1] : Number.NaN) * FRAME_BYTES;
}

it('the size of a log is what is in use, or a few megabytes', async () => {
  const { connection, log } = await openLog();
  for (const rows of [1, 1_000, 3, 20_000, 1]) {
    insert(connection, rows);
    const size = log.size();
    // After this checkpoint, the next commit starts the log anew.
    const used = moved(connection);
    expect(size).toBeGreaterThanOrEqual(used);
    expect(size).toBeLessThanOrEqual(Math.max(used, KEPT_LOG_BYTES));
  }
});

it('a log is synced as often as requested, and empty once it is closed', async () => {
  const { connection, log } = await openLog();
  insert(connection, 10);
  await Promise.all([log.sync(), log.sync(), log.sync()]);
  log.close();
  await log.sync();
  expect(log.size()).toBe(0);
});
