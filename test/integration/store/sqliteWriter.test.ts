import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { connectSqlite, type SqliteConnection } from '../../../shared/store/sqlite/sqliteConnection.ts';
import { createWriter, type Writer } from '../../../shared/store/sqlite/writer.ts';
import { run } from '../../../tools/program.ts';
import { temporaryDirectory } from '../../support/processes/temporaryDirectory.ts';

interface Opened {
  readonly file: string;
  readonly writer: Writer;
  /** The number of transactions so far. */
  readonly begun: () => number;
  /** Lists the committed values. */
  readonly values: () => readonly number[];
}

interface TestHooks {
  readonly onBegin?: () => void;
  readonly sync?: () => Promise<void>;
}

async function openTestWriter({ onBegin = () => {}, sync = async () => {} }: TestHooks = {}): Promise<Opened> {
  const directory = await temporaryDirectory();
  const file = `${directory.path}/test.sqlite`;
  const reader = new DatabaseSync(file);
  reader.exec(`PRAGMA journal_mode = WAL; CREATE TABLE numbers (value INTEGER PRIMARY KEY, text TEXT);
    CREATE TABLE facts (value INTEGER REFERENCES numbers DEFERRABLE INITIALLY DEFERRED)`);
  let transactions = 0;
  const connection = connectSqlite({ file });
  const writer = createWriter(connection, {
    onBegin: () => {
      onBegin();
      return ++transactions;
    },
    onCommit: () => {},
    sync,
  });
  onTestFinished(async () => {
    await writer.settled();
    connection.close();
    reader.close();
    await directory.remove();
  });
  const values = () =>
    reader
      .prepare('SELECT value FROM numbers ORDER BY value')
      .all()
      .map(({ value }) => Number(value));
  return { file, writer, begun: () => transactions, values };
}

const insert = (value: number) => (connection: SqliteConnection) =>
  void connection.prepare('INSERT INTO numbers VALUES (?, NULL)').run(value);

/** Inserts a row with a missing reference, which only the commit detects. */
const insertDangling = (connection: SqliteConnection) => connection.run('INSERT INTO facts VALUES (999)');

const range = (count: number) => Array.from({ length: count }, (_, index) => index);

const dieInGroup = fileURLToPath(new URL('./sqliteWriter/dieInGroup.ts', import.meta.url));
const fillDisk = fileURLToPath(new URL('./sqliteWriter/fillDisk.ts', import.meta.url));

describe('the writer of a database file', () => {
  it.each([
    [40, 1],
    [200, 4],
  ])('commits %i small changes of one moment in %i transactions, of at most 64 each', async (changes, transactions) => {
    const { writer, begun, values } = await openTestWriter();
    await Promise.all(range(changes).map((value) => writer.apply(insert(value), 'small')));
    expect(values()).toEqual(range(changes));
    expect(begun()).toBe(transactions);
  });

  it('undoes a change that fails, and commits the others', async () => {
    const { writer, begun, values } = await openTestWriter();
    const failing = (connection: SqliteConnection) => {
      insert(100)(connection);
      throw new Error('refused');
    };
    const changes = [insert(1), failing, insert(2), insert(1), insert(3)];
    const outcomes = await Promise.allSettled(changes.map((change) => writer.apply(change, 'small')));
    expect(outcomes.map(({ status }) => status)).toEqual([
      'fulfilled',
      'rejected',
      'fulfilled',
      'rejected',
      'fulfilled',
    ]);
    expect(values()).toEqual([1, 2, 3]);
    expect(begun()).toBe(1);
  });

  it('reports a failed change only after the commit, because it may depend on the write of another change', async () => {
    const { writer, values } = await openTestWriter();
    const written = writer.apply(insert(1), 'small');
    const seen = await writer.apply(insert(1), 'small').catch(() => values());
    expect(seen).toEqual([1]);
    await written;
  });

  it('fails all changes of a commit that fails, and accepts the next ones', async () => {
    const { writer, values } = await openTestWriter();
    const changes = [insert(1), insertDangling, insert(1), insert(2)];
    const outcomes = await Promise.allSettled(changes.map((change) => writer.apply(change, 'small')));
    for (const outcome of outcomes) expect(outcome).toMatchObject({ reason: { message: /FOREIGN KEY/ } });
    expect(values()).toEqual([]);
    await writer.apply(insert(3), 'small');
    expect(values()).toEqual([3]);
  });

  it('fails all changes if the transaction cannot begin', async () => {
    let isAllowed = false;
    const onBegin = () => {
      if (!isAllowed) throw new Error('a newer format');
    };
    const { writer, values } = await openTestWriter({ onBegin });
    const outcomes = await Promise.allSettled([1, 2].map((value) => writer.apply(insert(value), 'small')));
    for (const outcome of outcomes) expect(outcome).toMatchObject({ reason: { message: 'a newer format' } });
    isAllowed = true;
    await writer.apply(insert(3), 'bulk');
    expect(values()).toEqual([3]);
  });

  it('commits each bulk change alone, and small ones between two of them', async () => {
    const { writer, begun, values } = await openTestWriter();
    const order: string[] = [];
    const apply = async (name: string, value: number, size: 'small' | 'bulk') => {
      await writer.apply(insert(value), size);
      order.push(name);
    };
    await Promise.all([
      ...[1, 2, 3].map((value) => apply('bulk', value, 'bulk')),
      ...[4, 5].map((value) => apply('small', value, 'small')),
    ]);
    expect(order).toEqual(['bulk', 'small', 'small', 'bulk', 'bulk']);
    expect(values()).toEqual([1, 2, 3, 4, 5]);
    expect(begun()).toBe(4);
  });

  it.each(['bulk', 'small'] as const)(
    'reports a %s change only when it is on disk, and commits others meanwhile',
    async (size) => {
      const onDisk = Promise.withResolvers<void>();
      let syncs = 0;
      const { writer, values } = await openTestWriter({
        sync: async () => void (syncs++ === 0 && (await onDisk.promise)),
      });
      let isReported = false;
      const first = writer.apply(insert(1), size).then(() => {
        isReported = true;
      });
      await expect.poll(values).toEqual([1]);
      await writer.apply(insert(2), 'small');
      expect(isReported).toBe(false);
      onDisk.resolve();
      await first;
    },
  );

  it('fails all changes that the disk rejects, and accepts the next ones', async () => {
    let isBroken = true;
    const { writer, values } = await openTestWriter({
      sync: async () => {
        if (isBroken) throw new Error('EIO');
      },
    });
    const failing = [
      writer.apply(insert(1), 'small'),
      writer.apply(insert(2), 'small'),
      writer.apply(insert(3), 'bulk'),
    ];
    for (const outcome of await Promise.allSettled(failing))
      expect(outcome).toMatchObject({ reason: { message: 'EIO' } });
    isBroken = false;
    await writer.apply(insert(4), 'small');
    expect(values()).toContain(4);
  });

  it('is settled after all of its changes', async () => {
    const { writer, values } = await openTestWriter();
    const taken = [writer.apply(insert(1), 'small'), writer.apply(insert(2), 'bulk')];
    await writer.settled();
    expect(values()).toEqual([1, 2]);
    await Promise.all(taken);
  });

  it('leaves nothing of a group during which its process was killed, and all of the group before', async () => {
    const { file, values, writer } = await openTestWriter();
    expect(await run(process.execPath, [dieInGroup, file])).toMatchObject({ code: null, stderr: '' });
    expect(values()).toEqual(range(10));
    await writer.apply(insert(10), 'small');
    expect(values()).toEqual(range(11));
  });

  it.skipIf(process.platform === 'win32')('reports the disk-full error for every change of the group', async () => {
    for (const blocks of [1_000, 1_100, 1_200]) {
      const { file, values } = await openTestWriter();
      const limited = `ulimit -f ${blocks} && exec "$0" "$@"`;
      const { stdout } = await run('/bin/sh', ['-c', limited, process.execPath, fillDisk, file]);
      const committed: unknown = JSON.parse(stdout);
      expect(values()).toEqual(committed);
      expect(values().length).toBeGreaterThan(0);
      expect(committed).toEqual(range(values().length));
    }
  });
});
