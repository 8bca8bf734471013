import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { LogFile } from '../../../shared/store/sqlite/logFile.ts';
import { connectSqlite, KEPT_LOG_BYTES, type SqliteConnection } from '../../../shared/store/sqlite/sqliteConnection.ts';
import { temporaryDirectory } from '../../support/processes/temporaryDirectory.ts';

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

/** Moves the log into the database. After that, the next commit starts the log anew. */
const move = (connection: SqliteConnection) => connection.prepare('PRAGMA wal_checkpoint(PASSIVE)').get();

it('the file of a log keeps its size for the next commits, and the log reaches as far as its new content', async () => {
  const { connection, log } = await openLog();
  expect(log.reaches(0)).toBe(true);
  insert(connection, 20_000);
  const size = log.size();
  expect(size).toBeGreaterThan(20_000_000);
  expect([log.reaches(size - 32 - 4_120), log.reaches(size - 32)]).toEqual([true, false]);
  move(connection);
  insert(connection, 1_000);
  expect(log.size()).toBe(size);
  expect([log.reaches(1_000_000), log.reaches(2_000_000)]).toEqual([true, false]);
});

it('the file of a log is shortened after it has grown beyond its kept size', async () => {
  const { connection, log } = await openLog();
  insert(connection, 60_000);
  move(connection);
  insert(connection, 1);
  expect(log.size()).toBe(KEPT_LOG_BYTES);
});

it('a log is synced as often as requested, and empty once it is closed', async () => {
  const { connection, log } = await openLog();
  insert(connection, 10);
  await Promise.all([log.sync(), log.sync(), log.sync()]);
  log.close();
  await log.sync();
  expect([log.size(), log.reaches(0)]).toEqual([0, false]);
});
