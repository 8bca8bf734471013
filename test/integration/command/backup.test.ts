import { statSync } from 'node:fs';
import { copyFile, mkdir, readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setImmediate } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';
import { auditEvent } from '../../../shared/audit/auditEvent.ts';
import { describeInstance, FORMAT } from '../../../shared/store/instance.ts';
import { openStore } from '../../../shared/store/openStore.ts';
import { fileKeyring } from '../../../shared/store/secrets/keyring.ts';
import { copyDatabase } from '../../../shared/store/sqlite/databaseFile.ts';
import { run } from '../../../tools/program.ts';
import { eventsIn } from '../../support/audit/storedTrail.ts';
import { call, identity, identityJson } from '../../support/command.ts';
import { identityProgram } from '../../support/processes/programs.ts';
import { temporaryDirectory } from '../../support/processes/temporaryDirectory.ts';
import { readDatabase } from '../../support/stores/database.ts';
import { createUser, createUsers } from '../../support/stores/documents.ts';

const trail = z.object({ events: z.array(auditEvent) });
const initialised = z.looseObject({ userId: z.string() });

/** A directory with an instance `north`, and room for another one and its backups. */
async function newInstance() {
  const { path, remove } = await temporaryDirectory();
  onTestFinished(remove);
  const data = join(path, 'north');
  const { userId } = initialised.parse(await identityJson(['init', '--data', data]));
  return { path, data, userId, file: join(path, 'north.backup'), database: join(data, 'identity.sqlite') };
}

async function openInstance(directory: string) {
  const store = await openStore({ kind: 'sqlite', directory });
  onTestFinished(() => store.close());
  return store;
}

const isPrivate = async (file: string) => ((await stat(file)).mode & 0o777) === 0o600;

describe('identity backup', () => {
  it('copies a running instance at one moment while it writes, and restore makes an equal one of it', async () => {
    const { path, data, file } = await newInstance();
    const store = await openInstance(data);
    await createUsers(store, 5_000, { body: 'x'.repeat(500) });
    let isOver = false;
    const backup = identityJson(['backup', file, '--data', data]).finally(() => {
      isOver = true;
    });
    let pairs = 0;
    for (; !isOver; pairs++) {
      await store.commit([createUser(`left ${pairs}`), createUser(`right ${pairs}`)]);
      await setImmediate();
    }
    expect(await backup).toEqual({ file });
    expect(pairs).toBeGreaterThan(0);
    expect((await readdir(path)).toSorted()).toEqual(['north', 'north.backup']);
    expect(await isPrivate(file)).toBe(true);

    const copy = join(path, 'copy');
    const restore = ['restore', file, '--data', copy, '--key', join(data, 'master.key')];
    expect(await identityJson(restore)).toEqual({ name: 'north', directory: copy });
    expect((await readdir(copy)).toSorted()).toEqual(['identity.sqlite', 'master.key']);
    expect(await isPrivate(join(copy, 'master.key'))).toBe(true);
    expect(await isPrivate(join(copy, 'identity.sqlite'))).toBe(true);
    const [original, restored] = [await readDatabase(store), await readDatabase(await openInstance(copy))];
    for (const [collection, documents] of original) {
      const isChanged = collection === 'users' || collection === 'instance';
      if (!isChanged) expect(restored.get(collection)).toEqual(documents);
    }
    const { instanceId, ...description } = await describeInstance(await openInstance(copy));
    expect(await describeInstance(store)).toEqual({
      ...description,
      instanceId: expect.not.stringContaining(`${instanceId}`),
    });
    const ids = new Set(restored.get('users')?.map(({ id }) => id));
    const sides = ['left', 'right'].map((side) => [...ids].filter((id) => id.startsWith(side)).length);
    expect(sides[0]).toBe(sides[1]);
    expect([...ids].filter((id) => id.startsWith('user '))).toHaveLength(5_000);
  });

  it('overwrites no file, and leaves none behind when it fails', async () => {
    const { path, data, file } = await newInstance();
    await writeFile(file, 'something else');
    const taken = await identity(['backup', file, '--data', data]);
    expect(taken).toMatchObject({ code: 1, stderr: `identity: ${file} exists: choose another name\n` });
    expect(await readFile(file, 'utf8')).toBe('something else');
    const blocked = await identity(['backup', join(file, 'below'), '--data', data]);
    expect(blocked).toMatchObject({
      code: 1,
      stdout: '',
      stderr: `identity: the directory ${file} is not a directory: correct the problem, or choose another directory for ${join(file, 'below')}\n`,
    });
    const missing = join(path, 'missing');
    expect((await identity(['backup', join(missing, 'x'), '--data', data])).stderr).toBe(
      `identity: the directory ${missing} does not exist: correct the problem, or choose another directory for ${join(missing, 'x')}\n`,
    );
    expect((await readdir(path)).toSorted()).toEqual(['north', 'north.backup']);
  });

  it('points to the backups of Cloud Firestore', async () => {
    await call('restore x --firestore nobody', 64, 'docs/operations-google-cloud.md');
  });
});

it('a backup removes the folder that a killed backup to the same file has left, and reports it', async () => {
  const { path, data, file } = await newInstance();
  const left = `${file}.partial-killed`;
  await mkdir(left);
  for (const name of ['lock', 'copy', 'copy-journal']) await writeFile(join(left, name), '');
  await call(`backup ${file} --data ${data}`, 0, `identity: removed the folder ${left} of a killed process\n`);
  expect((await readdir(path)).toSorted()).toEqual(['north', 'north.backup']);
});

it.skipIf(process.platform === 'win32')('a copy is made in a directory that other users cannot write to', async () => {
  const { data, file, database } = await newInstance();
  const made: { folder: string; mode: number }[] = [];
  const complete = ({ file: copy }: { readonly file: string }) => {
    made.push({ folder: dirname(copy), mode: statSync(dirname(copy)).mode & 0o777 });
  };
  await copyDatabase(database, file, { keyring: fileKeyring(join(data, 'master.key')), complete });
  expect(made).toEqual([{ folder: expect.stringMatching(/north\.backup\.partial-/), mode: 0o700 }]);
  expect((await readdir(dirname(file))).toSorted()).toEqual(['north', 'north.backup']);
});

describe('identity restore', () => {
  it('overwrites no instance', async () => {
    const { data, file, database } = await newInstance();
    await identityJson(['backup', file, '--data', data]);
    const before = await readFile(database);
    const message = `identity: ${data} contains an instance, or the log of its database: restore into another directory\n`;
    expect(await identity(['restore', file, '--data', data])).toMatchObject({ code: 1, stderr: message });
    expect(Buffer.compare(await readFile(database), before)).toBe(0);
  });

  it.each([
    ['a backup that is cut off', 'file', 20_000],
    ['a database whose log may hold a part of it', 'database', 0],
  ] as const)('makes no instance of %s', async (_what, source, missingBytes) => {
    const { path, data, ...files } = await newInstance();
    await identityJson(['backup', files.file, '--data', data]);
    const backup = files[source];
    await truncate(backup, (await stat(backup)).size - missingBytes);
    const args = ['restore', backup, '--data', join(path, 'copy'), '--key', join(data, 'master.key')];
    await call(args, 1, 'is not an intact database');
  });

  it('reads no log that others have put beside the backup', async () => {
    const { path, data, file, userId } = await newInstance();
    await identityJson(['backup', file, '--data', data]);
    const other = join(path, 'other.db');
    await copyFile(file, other);
    const planted = new DatabaseSync(other);
    planted.exec(
      "PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; DELETE FROM documents WHERE collection = 'users'; VACUUM",
    );
    await copyFile(`${other}-wal`, `${file}-wal`);
    planted.close();
    const copy = join(path, 'copy');
    await identityJson(['restore', file, '--data', copy, '--key', join(data, 'master.key')]);
    const users = (await readDatabase(await openInstance(copy))).get('users') ?? [];
    expect(users.map(({ id }) => id)).toEqual([userId]);
  });

  it('reads the key once, so that it may come from a pipe', async () => {
    const { path, data, file } = await newInstance();
    await identityJson(['backup', file, '--data', data]);
    const copy = join(path, 'copy');
    const args = [...identityProgram, 'restore', file, '--data', copy, '--key', '/dev/stdin'];
    const { code, stderr } = await run('/bin/sh', ['-c', `cat '${join(data, 'master.key')}' | "$@"`, 'sh', ...args]);
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: expect.stringMatching(/^copying: [\d,]{6,} bytes, done in [\d.]+s\n$/),
    });
    expect(await readFile(join(copy, 'master.key'), 'utf8')).toBe(await readFile(join(data, 'master.key'), 'utf8'));
  });

  it('brings the audit trail of the instance up to the backup, and mixes it with no other', async () => {
    const { path, data, file } = await newInstance();
    await identityJson(['backup', file, '--data', data]);
    await identity(['user', 'lock', 'nobody', '--data', data]);
    const refused = await identity(['restore', file, '--data', data]);
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('contains an instance') });
    const copy = join(path, 'copy');
    await identityJson(['restore', file, '--data', copy, '--key', join(data, 'master.key')]);
    const { events } = trail.parse(await identityJson(['audit', '--since', '9999d', '--data', copy]));
    expect(events.map(({ event, outcome }) => `${event} ${outcome}`)).toEqual([
      'command.init started',
      'command.init ok',
      'command.backup started',
      'command.restore started',
      'command.restore ok',
    ]);
    for (const name of await readdir(copy)) expect(await isPrivate(join(copy, name))).toBe(true);
    const after = (await eventsIn(data)).at(-1)?.cursor ?? '';
    const { events: restored } = trail.parse(await identityJson(['audit', '--after', after, '--data', copy]));
    expect(restored.map(({ event, outcome }) => `${event} ${outcome}`)).toEqual([
      'command.restore started',
      'command.restore ok',
    ]);
  });

  it('is not mixed with the log of a database that was removed', async () => {
    const { data, file, database } = await newInstance();
    await identityJson(['backup', file, '--data', data]);
    await rm(database);
    await writeFile(`${database}-wal`, 'log');
    await call(`restore ${file} --data ${data}`, 1, 'or the log of its database');
    const left = ['identity.sqlite-wal', 'master.key'];
    expect((await readdir(data)).toSorted()).toEqual(left);
  });

  it.each([
    [
      'text',
      (file: string) => writeFile(file, 'this is some text and not a database at all'),
      /not an intact database/,
    ],
    ['a foreign database', (file: string) => make(file, 'CREATE TABLE other (a)'), /is not an intact database/],
    [
      'a backup of a newer version',
      (file: string) => make(file, `PRAGMA user_version = ${FORMAT + 1}`),
      /the database has format \d+, and this version needs format \d+: run the version that wrote the database/,
    ],
    [
      'a backup of no version',
      (file: string) => make(file, 'CREATE TABLE documents (collection TEXT, id TEXT)'),
      /the database has no format, and this version needs format \d+/,
    ],
    ['a missing file', async () => {}, /^identity: .*north\.backup does not exist: check the name\n$/],
  ])('makes no instance of %s', async (_name, write, message) => {
    const { path, file } = await newInstance();
    await write(file);
    const empty = join(path, 'empty');
    await mkdir(empty);
    const { code, stderr } = await identity(['restore', file, '--data', empty]);
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringMatching(message) });
    expect(await readdir(empty)).toEqual([]);
  });
});

async function make(file: string, sql: string): Promise<void> {
  using database = new DatabaseSync(file);
  database.exec(sql);
}

describe('a command that only reads', () => {
  it('works while another process holds the write lock', async () => {
    const { data, userId, database } = await newInstance();
    using other = new DatabaseSync(database);
    other.exec('BEGIN IMMEDIATE');
    await call(`pat list --user ${userId} --data ${data}`, 0, /^[0-9a-f]{32}\t/);
  });
});
