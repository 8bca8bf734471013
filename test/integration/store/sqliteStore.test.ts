import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, readdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { DatabaseSync } from 'node:sqlite';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { survived } from '../../faults/support/survived.ts';
import { createUser, createUsers, readUser, scanAll, userKey } from '../../support/stores/documents.ts';
import { openEmbeddedStore, openTestStore, sqlite } from '../../support/stores/stores.ts';

const commitForever = fileURLToPath(new URL('./sqliteStore/commitForever.ts', import.meta.url));
const increment = fileURLToPath(new URL('./sqliteStore/increment.ts', import.meta.url));

function startWriter(directory: string, ...args: string[]): ChildProcessByStdio<null, Readable, null> {
  return spawn(process.execPath, [commitForever, directory, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
}

async function exitCode(writer: ReturnType<typeof startWriter>): Promise<unknown> {
  writer.stdout.resume();
  const [code] = await once(writer, 'exit');
  return code;
}

async function newDirectory(): Promise<string> {
  const location = await sqlite.newLocation();
  if (location.kind !== 'sqlite') throw new Error('not a directory');
  return location.directory;
}

describe('the SQLite store', () => {
  it('accepts concurrent writes of several processes and of this one', async () => {
    const directory = await newDirectory();
    const names = ['one', 'two', 'three'];
    const writers = names.map((name) => startWriter(directory, name, '20'));
    const exits = writers.map((writer) => exitCode(writer));
    const store = await openTestStore(sqlite, { kind: 'sqlite', directory });
    for (let index = 0; index < 20; index += 1) {
      await store.transaction(async ({ getMany, write }) => {
        const [own] = await getMany([userKey('own')]);
        const update = { type: 'update', key: userKey('own'), fields: { sequence: (own?.sequence ?? 0) + 1 } } as const;
        write([own === undefined ? createUser('own', { sequence: 1 }) : update]);
      });
    }
    expect(await Promise.all(exits)).toEqual([0, 0, 0]);
    const snapshot = await store.snapshot();
    for (const partition of names) {
      expect((await scanAll(snapshot, { collection: 'users', partition })).documents).toHaveLength(1_000);
    }
    await snapshot[Symbol.asyncDispose]();
    expect(await readUser(store, 'own')).toMatchObject({ sequence: 20 });
  });

  it('loses no decision of several processes about one document', async (context) => {
    const directory = await newDirectory();
    const store = await openTestStore(sqlite, { kind: 'sqlite', directory });
    await store.commit([createUser('counter', { sequence: 0 })]);
    const processes = [1, 2, 3].map(() => spawn(process.execPath, [increment, directory, '100'], { stdio: 'inherit' }));
    const exits = await Promise.all(processes.map((running) => once(running, 'exit')));
    expect(exits.map(([code]) => code)).toEqual([0, 0, 0]);
    expect(await readUser(store, 'counter')).toMatchObject({ sequence: 300 });
    survived(context, 'several processes', 'SQLite', 300);
  });

  it('has whole commits only, and each acknowledged one, after its process was killed', async () => {
    const directory = await newDirectory();
    for (const name of ['first', 'second', 'third']) {
      const writer = startWriter(directory, name);
      const exit = once(writer, 'exit');
      let acknowledged = -1;
      for await (const line of createInterface(writer.stdout)) {
        acknowledged = Number(line);
        if (acknowledged === 7) writer.kill('SIGKILL');
      }
      expect(await exit).toEqual([null, 'SIGKILL']);
      const store = openEmbeddedStore(join(directory, 'identity.sqlite'));
      const snapshot = await store.snapshot();
      const { documents } = await scanAll(snapshot, { collection: 'users', partition: name, fields: ['sequence'] });
      await snapshot[Symbol.asyncDispose]();
      await store.close();
      const groups = Map.groupBy(documents, ({ sequence }) => sequence ?? -1);
      expect(new Set([...groups.values()].map(({ length }) => length))).toEqual(new Set([50]));
      expect(groups.size).toBeGreaterThanOrEqual(acknowledged + 1);
      expect(groups.size).toBeLessThanOrEqual(acknowledged + 2);
    }
  });

  it('can be opened by several processes while its file does not exist yet', async () => {
    const directory = join(await newDirectory(), 'new');
    const writers = Array.from({ length: 6 }, (_, index) => startWriter(directory, `writer ${index}`, '1'));
    const exits = await Promise.all(writers.map((writer) => exitCode(writer)));
    expect(exits).toEqual([0, 0, 0, 0, 0, 0]);
  });

  it('fails with UNAVAILABLE while another process keeps the file locked, and recovers', async () => {
    const directory = await newDirectory();
    const store = await openTestStore(sqlite, { kind: 'sqlite', directory });
    await store.commit([createUser('a', { body: 'old' })]);
    const other = new DatabaseSync(join(directory, 'identity.sqlite'));
    other.exec('BEGIN IMMEDIATE');
    let turns = 0;
    const timer = setInterval(() => (turns += 1), 10);
    await expect(store.commit([createUser('b')])).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    clearInterval(timer);
    expect(turns).toBeGreaterThan(10);
    expect(await readUser(store, 'a')).toMatchObject({ body: 'old' });
    other.exec('ROLLBACK');
    other.close();
    await store.commit([createUser('b')]);
  });

  it('makes its directory and files readable to their owner only', async () => {
    const directory = join(await newDirectory(), 'data', 'instance');
    const store = await openTestStore(sqlite, { kind: 'sqlite', directory });
    await store.commit([createUser('a')]);
    expect((await stat(directory)).mode & 0o777).toBe(0o700);
    const files = await readdir(directory);
    const database = ['identity.sqlite', 'identity.sqlite-shm', 'identity.sqlite-wal'];
    expect(files.toSorted()).toEqual([...database, 'master.key']);
    for (const file of files) expect((await stat(join(directory, file))).mode & 0o777).toBe(0o600);
  });

  it('makes the files of its lock readable to their owner only, also those that others could read', async () => {
    const directory = join(await newDirectory(), 'data');
    const store = await openTestStore(sqlite, { kind: 'sqlite', directory });
    const take = () =>
      store.lock.take({ mode: 'alone', operation: 'import', caller: 'ada', signal: AbortSignal.timeout(60_000) });
    const modes = async () => {
      await using _ = await take();
      const files = await readdir(join(directory, 'lock'));
      expect(files).toHaveLength(2);
      return Promise.all(files.map(async (file) => (await stat(join(directory, 'lock', file))).mode & 0o777));
    };
    expect(await modes()).toEqual([0o600, 0o600]);
    await chmod(join(directory, 'lock', 'lock.sqlite'), 0o644);
    expect(await modes()).toEqual([0o600, 0o600]);
  });

  it('keeps its documents when it is closed and opened again', async () => {
    const directory = await newDirectory();
    const file = join(directory, 'identity.sqlite');
    const first = openEmbeddedStore(file);
    await createUsers(first, 10);
    await first.close();
    expect((await readdir(directory)).toSorted()).toEqual(['identity.sqlite', 'master.key']);
    const second = await openTestStore(sqlite, { kind: 'sqlite', directory });
    expect(await readUser(second, 'user 9')).toMatchObject({ sequence: 9 });
  });

  it.each([
    {
      documents: 'of a partition',
      query: '"partition" = ? AND id >= ? AND id < ? ORDER BY id',
      parameters: ['org/users', '00', '10'],
      search: 'partition=? AND id>? AND id<?',
    },
    {
      documents: 'of a range of partitions',
      query: '"partition" >= ? AND "partition" < ? ORDER BY "partition", id',
      parameters: ['users/', 'users0'],
      search: 'partition>? AND partition<?',
    },
  ])('finds the documents $documents by the index, in order', async ({ query, parameters, search }) => {
    const directory = await newDirectory();
    await openTestStore(sqlite, { kind: 'sqlite', directory });
    const database = new DatabaseSync(join(directory, 'identity.sqlite'));
    const plan = database
      .prepare(`EXPLAIN QUERY PLAN SELECT id, body FROM documents WHERE collection = ? AND ${query}`)
      .all('users', ...parameters);
    database.close();
    expect(plan.map(({ detail }) => detail)).toEqual([
      `SEARCH documents USING INDEX documents_by_partition (collection=? AND ${search})`,
    ]);
  });

  it('scans and commits in small batches while requests wait for its process', async () => {
    let isAttended = true;
    const file = join(await newDirectory(), 'identity.sqlite');
    const store = openEmbeddedStore(file, { isAttended: () => isAttended });
    onTestFinished(() => store.close());
    await createUsers(store, 250);
    const snapshot = await store.snapshot();
    expect((await scanAll(snapshot, { collection: 'users' })).sizes).toEqual([100, 100, 50]);
    expect(store.advice().records).toBe(80);
    isAttended = false;
    expect((await scanAll(snapshot, { collection: 'users' })).sizes).toEqual([250]);
    expect(store.advice().records).toBe(1_000);
  });

  it('reports that a file is not a database without showing any of its content', async () => {
    const file = join(await newDirectory(), 'identity.sqlite');
    await writeFile(file, 'this is some text and not a database at all');
    expect(() => openEmbeddedStore(file)).toThrow('database error: file is not a database');
  });
});
