import { connectSqlite, type SqliteConnection } from '../../../../shared/store/sqlite/sqliteConnection.ts';
import { createWriter } from '../../../../shared/store/sqlite/writer.ts';

// Runs as a separate process: `fillDisk.ts FILE`. Commits groups of large rows until one of them fails, and prints the
// numbers of the rows that are reported as committed.

const connection = connectSqlite({ file: process.argv[2] ?? '' });
const writer = createWriter(connection, { onBegin: () => 1, onCommit: () => {}, sync: async () => {} });
const insert = (value: number) => (connection: SqliteConnection) =>
  void connection.prepare('INSERT INTO numbers VALUES (?, ?)').run(value, 'x'.repeat(20_000));
const committed: number[] = [];
for (let first = 0, isFull = false; !isFull; first += 10) {
  const values = Array.from({ length: 10 }, (_, index) => first + index);
  const outcomes = await Promise.allSettled(values.map((value) => writer.apply(insert(value), 'small')));
  committed.push(...values.filter((_value, index) => outcomes[index]?.status === 'fulfilled'));
  isFull = outcomes.some(({ status }) => status === 'rejected');
}
process.stdout.write(JSON.stringify(committed));
