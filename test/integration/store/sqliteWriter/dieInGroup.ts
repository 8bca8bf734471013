import { connectSqlite, type SqliteConnection } from '../../../../shared/store/sqlite/sqliteConnection.ts';
import { createWriter } from '../../../../shared/store/sqlite/writer.ts';

// Runs as a separate process: `dieInGroup.ts FILE`. Commits the numbers 0 to 9 together, and dies in the sixth of the next
// ten changes, which share a transaction.

const connection = connectSqlite({ file: process.argv[2] ?? '' });
const writer = createWriter(connection, { onBegin: () => 1, onCommit: () => {}, sync: async () => {} });
const insert = (value: number) => (connection: SqliteConnection) => {
  connection.prepare('INSERT INTO numbers VALUES (?, NULL)').run(value);
  if (value === 15) process.kill(process.pid, 'SIGKILL');
};
for (const first of [0, 10]) {
  const group = Array.from({ length: 10 }, (_, index) => writer.apply(insert(first + index), 'small'));
  await Promise.all(group);
}
