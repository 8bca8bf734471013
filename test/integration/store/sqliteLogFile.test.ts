import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { LogFile } from '../../../shared/store/sqlite/logFile.ts';
import { connectSqlite, type SqliteConnection } from '../../../shared/store/sqlite/sqliteConnection.ts';
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
  return { file, connection, log };
}

const insert = (connection: SqliteConnection, rows: number) =>
  connection.execute(
    `WITH RECURSIVE counter(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM counter WHERE n < ${rows})
     INSERT INTO numbers (text) SELECT hex(randomblob(500)) FROM counter`,
  );

/** Returns SQLite's own count of the bytes of the log's frames. */
function reported(connection: SqliteConnection): number {
  const row: unknown = connection.prepare('PRAGMA wal_checkpoint(PASSIVE)').get();
  return 32 + Number(Array.isArray(row) ? row[1] : Number.NaN) * FRAME_BYTES;
}

it('the byte count of a log includes the frames in use, whatever the size of its file', async () => {
  const { connection, log } = await openLog();
  for (const rows of [1, 1_000, 3, 20_000, 1]) {
    insert(connection, rows);
    const used = log.usedBytes();
    // The checkpoint of this report lets the next commit restart the log, in a file that keeps its size.
    expect(used).toBe(reported(connection));
  }
});

it('the byte count of a log includes the writes of another connection', async () => {
  const { file, connection, log } = await openLog();
  const other = connectSqlite({ file, busyTimeout: 0 });
  onTestFinished(() => other.close());
  const before = log.usedBytes();
  insert(other, 500);
  expect(log.usedBytes()).toBeGreaterThan(before + 500_000);
  expect(log.usedBytes()).toBe(reported(connection));
});

it('a log file is empty after a checkpoint that truncates it', async () => {
  const { connection, log } = await openLog();
  insert(connection, 100);
  connection.execute('PRAGMA wal_checkpoint(TRUNCATE)');
  expect(log.usedBytes()).toBe(0);
  insert(connection, 1);
  expect(log.usedBytes()).toBeGreaterThan(FRAME_BYTES);
});

it('a log is synced as often as requested, and empty once it is closed', async () => {
  const { connection, log } = await openLog();
  insert(connection, 10);
  await Promise.all([log.sync(), log.sync(), log.sync()]);
  log.close();
  await log.sync();
  expect(log.usedBytes()).toBe(0);
});
