import { chmod, copyFile, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it, onTestFinished } from 'vitest';
import { FORMAT, instanceKey } from '../../../shared/store/instance.ts';
import { survived } from '../../faults/support/survived.ts';
import { createUser, createUsers, readUser, scanAll, userKey } from '../../support/stores/documents.ts';
import { openEmbeddedStore, sqlite } from '../../support/stores/stores.ts';

async function newFile(): Promise<string> {
  const location = await sqlite.newLocation();
  if (location.kind !== 'sqlite') throw new Error('not a directory');
  return join(location.directory, 'identity.sqlite');
}

function open(...args: Parameters<typeof openEmbeddedStore>) {
  const store = openEmbeddedStore(...args);
  onTestFinished(() => store.close());
  return store;
}

function change(file: string, sql: string): void {
  using database = new DatabaseSync(file);
  database.exec(sql);
}

describe('the database file', () => {
  it.each([FORMAT + 1, FORMAT - 1, 0])('of format %s is rejected, and no byte of it changes', async (format) => {
    const file = await newFile();
    const store = openEmbeddedStore(file);
    await createUsers(store, 10);
    await store.close();
    change(file, `PRAGMA user_version = ${format}; ALTER TABLE documents ADD COLUMN other TEXT`);
    const before = await readFile(file);
    const found = format === 0 ? 'no format' : `format ${format}`;
    const message = `the database has ${found}, and this version needs format ${FORMAT}: run the version`;
    expect(() => openEmbeddedStore(file)).toThrow(message);
    expect(Buffer.compare(await readFile(file), before)).toBe(0);
  });

  it.each([{ name: 'north', format: FORMAT - 1 }, { name: 'north' }])(
    'with an instance of another format is rejected: %j',
    async (body) => {
      const file = await newFile();
      const store = openEmbeddedStore(file);
      await store.commit([{ type: 'create', key: instanceKey, fields: { body: JSON.stringify(body) } }]);
      await store.close();
      expect(() => openEmbeddedStore(file)).toThrow(/^the database has (no format|format \d+), and this version needs/);
    },
  );

  it('of another format is rejected although it has no table that this version knows', async () => {
    const file = await newFile();
    change(file, `PRAGMA user_version = ${FORMAT + 1}`);
    expect(() => openEmbeddedStore(file)).toThrow(`the database has format ${FORMAT + 1}`);
  });

  it('of a killed first start is completed by the next one', async () => {
    const file = await newFile();
    const killed = `${file}.killed`;
    using first = new DatabaseSync(killed);
    first.exec(`PRAGMA journal_mode = WAL; PRAGMA cache_size = 1; BEGIN IMMEDIATE; CREATE TABLE documents (id TEXT);
      CREATE TABLE clock (value TEXT); PRAGMA user_version = ${FORMAT}`);
    // Enough for the unfinished transaction to reach the log.
    const insert = first.prepare('INSERT INTO clock VALUES (?)');
    for (let index = 0; index < 100; index++) insert.run('x'.repeat(10_000));
    expect((await stat(`${killed}-wal`)).size).toBeGreaterThan(0);
    for (const suffix of ['', '-wal']) await copyFile(`${killed}${suffix}`, `${file}${suffix}`);
    const store = open(file);
    await store.commit([createUser('a')]);
    expect(await readUser(store, 'a')).toBeDefined();
  });

  it('rejects writes of a process that runs while another version migrates it', async () => {
    const file = await newFile();
    const store = open(file);
    await store.commit([createUser('a')]);
    using newer = new DatabaseSync(file);
    newer.exec(`PRAGMA user_version = ${FORMAT + 1}`);
    await expect(store.commit([createUser('b')])).rejects.toMatchObject({ code: 'UNAVAILABLE', httpStatus: 503 });
    expect(await readUser(store, 'b')).toBeUndefined();
  });

  it('opens without a lock while another connection holds the write lock', async () => {
    const file = await newFile();
    const writer = openEmbeddedStore(file);
    await writer.commit([createUser('a')]);
    await writer.close();
    using other = new DatabaseSync(file);
    other.exec('BEGIN IMMEDIATE');
    expect(await readUser(open(file), 'a')).toBeDefined();
    other.exec('ROLLBACK');
  });

  it('becomes readable to its owner only if it was restored with other permissions, as does its log', async () => {
    const file = await newFile();
    const restored = join(file, '..', 'restored.sqlite');
    const store = open(file);
    await store.commit([createUser('a')]);
    for (const suffix of ['', '-wal']) {
      await copyFile(`${file}${suffix}`, `${restored}${suffix}`);
      await chmod(`${restored}${suffix}`, 0o644);
    }
    expect(await readUser(open(restored), 'a')).toBeDefined();
    for (const suffix of ['', '-wal', '-shm']) expect((await stat(`${restored}${suffix}`)).mode & 0o777).toBe(0o600);
  });

  it('returns to WAL mode, in which readers and writers do not block each other, if it was restored without it', async () => {
    const file = await newFile();
    const first = openEmbeddedStore(file);
    await first.commit([createUser('a')]);
    await first.close();
    const database = new DatabaseSync(file);
    database.exec('PRAGMA journal_mode = DELETE');
    database.close();
    const store = open(file);
    await using snapshot = await store.snapshot();
    await store.commit([createUser('b')]);
    expect((await scanAll(snapshot, { collection: 'users' })).documents).toHaveLength(1);
  });
});

const BODY = 'x'.repeat(20_000);
const logMarginBytes = 400_000;

async function sizeOf(file: string): Promise<number> {
  return (await stat(file)).size;
}

describe('the write-ahead log', () => {
  it('stays within its limit while an export reads: the snapshot ends, and writes continue', async (context) => {
    const file = await newFile();
    const store = open(file, { logMarginBytes });
    await createUsers(store, 1_000, { body: 'x'.repeat(500) });
    await using snapshot = await store.snapshot();
    const batches = snapshot.scan({ collection: 'users' })[Symbol.asyncIterator]();
    expect((await batches.next()).value).toHaveLength(500);
    let largest = 0;
    for (let index = 0; index < 200; index++) {
      await store.commit([createUser(`late ${index}`, { body: BODY })]);
      largest = Math.max(largest, (await sizeOf(`${file}-wal`)) - (await sizeOf(file)));
    }
    // The commit that exceeds the limit writes pages of indexes, and of their splits, too.
    expect(largest).toBeLessThan(logMarginBytes + 4 * BODY.length);
    await expect(batches.next()).rejects.toMatchObject({ code: 'ABORTED', httpStatus: 409 });
    await expect(snapshot.getMany([userKey('user 1')])).rejects.toMatchObject({ code: 'ABORTED' });
    await using next = await store.snapshot();
    expect((await scanAll(next, { collection: 'users', fields: [] })).documents).toHaveLength(1_200);
    survived(context, 'snapshot ends', 'SQLite', 1);
  });

  it('keeps a snapshot open below the limit', async () => {
    const file = await newFile();
    const store = open(file, { logMarginBytes: 4_000_000 });
    await createUsers(store, 1_000);
    await using snapshot = await store.snapshot();
    for (let index = 0; index < 50; index++) await store.commit([createUser(`late ${index}`, { body: BODY })]);
    expect((await scanAll(snapshot, { collection: 'users', fields: [] })).documents).toHaveLength(1_000);
  });

  it('is limited by the snapshots of a process that does not write, too', async () => {
    const file = await newFile();
    const writer = open(file, { logMarginBytes });
    const reader = open(file, { logMarginBytes });
    await createUsers(writer, 10);
    await using snapshot = await reader.snapshot();
    for (let index = 0; index < 50; index++) await writer.commit([createUser(`late ${index}`, { body: BODY })]);
    await expect
      .poll(() =>
        snapshot.getMany([userKey('user 1')]).then(
          () => 'read',
          (error: Error) => error.message,
        ),
      )
      .toMatch(/^the snapshot has ended/);
    // A commit while the log is being moved already does not move it again; the next one does.
    const sizeAfterCommit = async () => {
      await writer.commit([{ type: 'update', key: userKey('user 1'), fields: { state: 'last' } }]);
      return sizeOf(`${file}-wal`);
    };
    await expect.poll(sizeAfterCommit).toBeLessThan(100_000);
  });
});
