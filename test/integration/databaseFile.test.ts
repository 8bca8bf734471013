import { chmod, copyFile, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it, onTestFinished } from 'vitest';
import { documentFieldTypes, fieldNames } from '../../shared/store/documentFields.ts';
import { FILE_FORMAT } from '../../shared/store/sqlite/databaseFile.ts';
import { openSqliteStore } from '../../shared/store/sqlite/openSqliteStore.ts';
import { survived } from '../faults/support/survived.ts';
import { createUser, createUsers, readUser, scanAll, userKey } from '../support/stores/documents.ts';
import { sqlite } from '../support/stores/stores.ts';

async function newFile(): Promise<string> {
  const location = await sqlite.newLocation();
  if (location.kind !== 'sqlite') throw new Error('not a directory');
  return join(location.directory, 'identity.sqlite');
}

function open(...args: Parameters<typeof openSqliteStore>) {
  const store = openSqliteStore(...args);
  onTestFinished(() => store.close());
  return store;
}

/** The tables of version 0.1.0, which had no format, no versions of documents and no clock. */
const firstSchema = `
  PRAGMA journal_mode = WAL;
  CREATE TABLE documents (
    collection TEXT NOT NULL, id TEXT NOT NULL, "partition" TEXT, "orgId" TEXT, "body" TEXT, "digest" TEXT,
    "passwordHash" TEXT, "totpSeed" TEXT, "clientSecret" TEXT, "state" TEXT, "otpEmail" INTEGER, "sequence" INTEGER,
    "createdAt" TEXT, "changedAt" TEXT, "expiresAt" TEXT, "ownerId" TEXT, PRIMARY KEY (collection, id)
  ) STRICT;
  CREATE INDEX documents_by_partition ON documents (collection, "partition", id) WHERE "partition" IS NOT NULL`;

/** Writes a file as version 0.1.0 did, with users who have every field. */
function writeFirstFormat(file: string, names: readonly string[]): void {
  using database = new DatabaseSync(file);
  database.exec(firstSchema);
  const columns = fieldNames.map((name) => `"${name}"`).join(', ');
  const sql = `INSERT INTO documents (collection, id, ${columns}) VALUES ('users', ?${', ?'.repeat(fieldNames.length)})`;
  const insert = database.prepare(sql);
  for (const name of names) insert.run(userKey(name).id, ...fieldNames.map((field) => storedValue(name, field)));
}

/** Gives the rows of a file the ids that they had in the fourth format, in no order. */
function writeFourthFormat(file: string): void {
  using database = new DatabaseSync(file);
  database.exec(`UPDATE documents SET id = substr(id, -2) || '~' || substr(id, 1, length(id) - 3)
    WHERE id GLOB '*~[0-9a-f][0-9a-f]'; PRAGMA user_version = 4`);
}

function storedValue(name: string, field: (typeof fieldNames)[number]): string | number {
  return { string: `${field} of ${name}`, integer: name.length, boolean: 1 }[documentFieldTypes[field]];
}

function everyField(name: string) {
  const values = fieldNames.map((field) => [field, field === 'otpEmail' ? true : storedValue(name, field)]);
  return { id: userKey(name).id, ...Object.fromEntries(values) };
}

function formatOf(file: string): unknown {
  using database = new DatabaseSync(file);
  return database.prepare('PRAGMA user_version').get();
}

describe('the database file', () => {
  it('of the first format is migrated with all its data', async () => {
    const file = await newFile();
    const names = Array.from({ length: 30 }, (_, index) => `user ${'x'.repeat(index)}`);
    writeFirstFormat(file, names);
    const store = open(file);
    for (const name of names) expect(await readUser(store, name)).toEqual(everyField(name));
    const [first = '', second = ''] = names;
    await store.transaction(async ({ getMany, write }) => {
      await getMany([userKey(first), userKey(second)]);
      write([
        { type: 'update', key: userKey(first), fields: { state: 'changed' } },
        { type: 'delete', key: userKey(second) },
        createUser('new'),
      ]);
    });
    expect(await readUser(store, first)).toEqual({ ...everyField(first), state: 'changed' });
    expect(formatOf(file)).toEqual({ user_version: FILE_FORMAT });
  });

  it('of the first format stays as it is when its migration fails', async () => {
    const file = await newFile();
    writeFirstFormat(file, ['a']);
    using database = new DatabaseSync(file);
    database.exec('CREATE TABLE clock (unexpected TEXT)');
    const schema = () => database.prepare('SELECT sql FROM sqlite_schema').all();
    const before = schema();
    expect(() => openSqliteStore(file)).toThrow('database error');
    expect(schema()).toEqual(before);
    expect(formatOf(file)).toEqual({ user_version: 0 });
    database.exec('DROP TABLE clock');
    expect(await readUser(open(file), 'a')).toEqual(everyField('a'));
  });

  it('of the fourth format gets rows with ids that lie side by side, in their order', async () => {
    const file = await newFile();
    const store = openSqliteStore(file);
    await createUsers(store, 300, { partition: 'org 1/humanUsers' });
    await store.commit([{ type: 'create', key: { collection: 'tokens', id: 'aToken' }, fields: { digest: 'd' } }]);
    const documents = async (opened: ReturnType<typeof openSqliteStore>) => {
      await using snapshot = await opened.snapshot();
      const scans = (['users', 'tokens'] as const).map((collection) => scanAll(snapshot, { collection }));
      return (await Promise.all(scans)).map((scan) => scan.documents);
    };
    const before = await documents(store);
    await store.close();
    writeFourthFormat(file);
    const migrated = open(file);
    expect(await documents(migrated)).toEqual(before);
    expect(await readUser(migrated, 'user 7')).toMatchObject({ id: userKey('user 7').id, sequence: 7 });
    expect(formatOf(file)).toEqual({ user_version: FILE_FORMAT });
    using database = new DatabaseSync(file);
    const sql = (order: string) => `SELECT id FROM documents WHERE collection = 'users' ORDER BY ${order}`;
    expect(database.prepare(sql('rowid')).all()).toEqual(database.prepare(sql('id')).all());
  });

  it('of a newer format is rejected, and no byte of it changes', async () => {
    const file = await newFile();
    const store = openSqliteStore(file);
    await createUsers(store, 10);
    await store.close();
    const newer = new DatabaseSync(file);
    newer.exec(`PRAGMA user_version = ${FILE_FORMAT + 1}; ALTER TABLE documents ADD COLUMN later TEXT`);
    newer.close();
    const before = await readFile(file);
    const message = `the database has format ${FILE_FORMAT + 1}, and this version supports formats up to ${FILE_FORMAT}: upgrade the software`;
    expect(() => openSqliteStore(file)).toThrow(message);
    expect(Buffer.compare(await readFile(file), before)).toBe(0);
  });

  it('takes no more writes of a process that runs while a newer version migrates it', async () => {
    const file = await newFile();
    const store = open(file);
    await store.commit([createUser('a')]);
    using newer = new DatabaseSync(file);
    newer.exec(`PRAGMA user_version = ${FILE_FORMAT + 1}`);
    await expect(store.commit([createUser('b')])).rejects.toMatchObject({ code: 'UNAVAILABLE', httpStatus: 503 });
    expect(await readUser(store, 'b')).toBeUndefined();
  });

  it('opens without a lock while another connection holds the write lock', async () => {
    const file = await newFile();
    const writer = openSqliteStore(file);
    await writer.commit([createUser('a')]);
    await writer.close();
    using other = new DatabaseSync(file);
    other.exec('BEGIN IMMEDIATE');
    expect(await readUser(open(file), 'a')).toBeDefined();
    other.exec('ROLLBACK');
  });

  it('becomes readable to its owner only when it was restored with other permissions, its log too', async () => {
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

  it('returns to WAL mode, in which readers and writers do not block each other, when it was restored without', async () => {
    const file = await newFile();
    const first = openSqliteStore(file);
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
    expect(largest).toBeLessThan(logMarginBytes + 2 * BODY.length);
    await expect(batches.next()).rejects.toMatchObject({ code: 'ABORTED', httpStatus: 409 });
    await expect(snapshot.getMany([userKey('user 1')])).rejects.toMatchObject({ code: 'ABORTED' });
    await using next = await store.snapshot();
    expect((await scanAll(next, { collection: 'users', fields: [] })).documents).toHaveLength(1_200);
    survived(context, 'snapshot ends', 'SQLite', 1);
  });

  it('leaves a snapshot alone below the limit', async () => {
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
    await writer.commit([createUser('last')]);
    await expect.poll(() => sizeOf(`${file}-wal`)).toBeLessThan(100_000);
  });
});
