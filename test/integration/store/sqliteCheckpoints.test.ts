import { stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Checkpoints } from '../../../shared/store/sqlite/logFile.ts';
import { connectSqlite } from '../../../shared/store/sqlite/sqliteConnection.ts';
import { capturedLog } from '../../support/http/capturedLog.ts';
import { temporaryDirectory } from '../../support/processes/temporaryDirectory.ts';
import { createUser, scanAll } from '../../support/stores/documents.ts';
import { openEmbeddedStore } from '../../support/stores/stores.ts';

const MEGABYTE = 1_000_000;
const logged = capturedLog();

async function newFile(): Promise<string> {
  const directory = await temporaryDirectory();
  onTestFinished(() => directory.remove());
  return join(directory.path, 'identity.sqlite');
}

const sizeOf = async (file: string) => (await stat(file)).size;

/** Commits documents of a megabyte, one after the other, and returns by how much the log was larger than the database. */
async function commitMegabytes(store: ReturnType<typeof openEmbeddedStore>, file: string, from: number, to: number) {
  let excess = 0;
  for (let number = from; number < to; number++) {
    await store.commit([createUser(`user ${number}`, { body: 'x'.repeat(MEGABYTE) })]);
    excess = Math.max(excess, (await sizeOf(`${file}-wal`)) - (await sizeOf(file)));
  }
  return excess;
}

describe('the write-ahead log of a database file', () => {
  it('is moved into the database while its writer goes on, so that it stays small', async () => {
    const file = await newFile();
    const store = openEmbeddedStore(file);
    onTestFinished(() => store.close());
    // Its promised limit: how far it grows below that depends on the machine.
    expect(await commitMegabytes(store, file, 0, 200)).toBeLessThan(64 * 2 ** 20);
    await expect.poll(() => sizeOf(file)).toBeGreaterThan(150 * MEGABYTE);
    await using snapshot = await store.snapshot();
    expect((await scanAll(snapshot, { collection: 'users', fields: [] })).documents).toHaveLength(200);
  });

  it('keeps its size as long as a snapshot needs it, and is moved after that', async () => {
    const file = await newFile();
    const store = openEmbeddedStore(file, { logMarginBytes: 500 * MEGABYTE });
    onTestFinished(() => store.close());
    const snapshot = await store.snapshot();
    await commitMegabytes(store, file, 0, 40);
    expect((await scanAll(snapshot, { collection: 'users', fields: [] })).documents).toEqual([]);
    expect(await sizeOf(file)).toBeLessThan(MEGABYTE);
    await snapshot[Symbol.asyncDispose]();
    await commitMegabytes(store, file, 40, 80);
    await expect.poll(() => sizeOf(file)).toBeGreaterThan(40 * MEGABYTE);
  });

  it('is complete in a file whose store closes while it is moved', async () => {
    const file = await newFile();
    const store = openEmbeddedStore(file);
    await commitMegabytes(store, file, 0, 20);
    await store.close();
    using database = new DatabaseSync(file);
    expect(database.prepare('PRAGMA integrity_check').get()).toEqual({ integrity_check: 'ok' });
    expect(database.prepare(`SELECT count(*) AS users FROM documents WHERE collection = 'users'`).get()).toEqual({
      users: 20,
    });
  });
});

it('the end of the write-ahead log is moved between two commits, so that the next commit starts the log again', async () => {
  const connection = connectSqlite({ file: await newFile(), busyTimeout: 0 });
  onTestFinished(() => connection.close());
  connection.execute('PRAGMA journal_mode = WAL; CREATE TABLE numbers (value INTEGER)');
  let works = 0;
  const checkpoints = new Checkpoints(connection.file, async (work) => {
    works++;
    await work();
  });
  checkpoints.afterCommit(40 * MEGABYTE, false);
  await checkpoints.close();
  expect(works).toBe(1);
});

describe('a thread that cannot move the log', () => {
  it('is reported, and replaced the next time', async () => {
    const file = await newFile();
    await writeFile(file, 'no database at all'.repeat(1_000));
    const checkpoints = new Checkpoints(file, async () => {});
    for (const [round, bytes] of [40, 80].entries()) {
      const reports = () => {
        // Begins once; after that the log has not grown.
        checkpoints.afterCommit(bytes * MEGABYTE, false);
        return logged().match(/"severity":"WARNING".*not a database/g);
      };
      await expect.poll(reports).toHaveLength(round + 1);
    }
    await checkpoints.close();
  });
});
