import { once } from 'node:events';
import { createServer } from 'node:http';
import type { StatementSync } from 'node:sqlite';
import { z } from 'zod';
import { userKey } from '../../shared/store/documentKeys.ts';
import { LogFile } from '../../shared/store/sqlite/logFile.ts';
import { connectSqlite, type SqliteConnection } from '../../shared/store/sqlite/sqliteConnection.ts';

// Measures the speed of SQLite and Node without the service, with the rows that the service has stored and with its
// connection settings. `node tools/bench/rawLoops.ts LOOP DATABASE [NEW-DATABASE]` prints one line of JSON.

/**
 * The number of rows in a transaction, as in an import. The rows are users and the documents that reserve their names.
 */
const ROWS_PER_TRANSACTION = 2_000;
const ROWS = `FROM documents WHERE collection IN ('users', 'claims', 'userGrants', 'userMetadata')`;

const rowSchema = z.array(z.union([z.string(), z.number(), z.null()]));
type Row = z.infer<typeof rowSchema>;

let milliseconds = 0;

function timed(work: () => void): void {
  const begin = performance.now();
  work();
  milliseconds += performance.now() - begin;
}

/** Yields rows in batches, so that only a few rows are in memory. */
function* batches(rows: Iterable<unknown>): Generator<readonly Row[]> {
  let batch: Row[] = [];
  for (const row of rows) {
    if (batch.push(rowSchema.parse(row)) < ROWS_PER_TRANSACTION) continue;
    yield batch;
    batch = [];
  }
  yield batch;
}

/** Inserts the rows of an import into a new database, in the order in which the import inserted them. */
function write(source: SqliteConnection, file: string): void {
  const target = connectSqlite({ file, busyTimeout: 0 });
  target.execute('PRAGMA journal_mode = WAL');
  const tables: Iterable<unknown> = source.prepare('SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL').iterate();
  for (const [sql] of z.array(z.tuple([z.string()])).parse([...tables])) target.execute(sql);
  let insert: StatementSync | undefined;
  for (const batch of batches(source.prepare(`SELECT * ${ROWS} ORDER BY rowid`).iterate())) {
    const columns = Array.from(batch[0] ?? [], () => '?').join(', ');
    insert ??= target.prepare(`INSERT INTO documents VALUES (${columns})`);
    const statement = insert;
    timed(() => {
      target.run('BEGIN IMMEDIATE');
      for (const row of batch) statement.run(...row);
      target.run('COMMIT');
    });
  }
  target.close();
}

/** Looks up each record of an import by its key, as a repeated import does. */
function lookUp(source: SqliteConnection): void {
  const get = source.prepare('SELECT version, digest FROM documents WHERE collection = ? AND id = ?');
  const keys = source.prepare(`SELECT collection, id ${ROWS} AND collection <> 'claims' ORDER BY rowid`);
  for (const batch of batches(keys.iterate())) {
    timed(() => {
      for (const key of batch) get.get(...key);
    });
  }
}

/** Reads each record of an import and encodes its text, as an export does. */
function read(source: SqliteConnection): void {
  const select = source.prepare(
    `SELECT body, coalesce("passwordHash", ''), coalesce("sealedTotpSeed", '') ${ROWS} AND body IS NOT NULL ORDER BY collection, id`,
  );
  let bytes = 0;
  timed(() => {
    const rows: Iterable<unknown> = select.iterate();
    for (const row of rows) if (Array.isArray(row)) bytes += Buffer.from(row.join('')).length;
  });
  if (bytes === 0) throw new Error('the database has no records');
}

/**
 * Serves requests, each of which removes a user's factor with one UPDATE. The requests of one turn of the event loop
 * share a commit.
 */
async function serve(database: SqliteConnection): Promise<void> {
  const update = database.prepare(
    `UPDATE documents SET "otpEmail" = NULL, version = version + 1 WHERE collection = 'users' AND id = ? AND "otpEmail" = 1`,
  );
  database.execute('PRAGMA synchronous = NORMAL');
  // Read a row before `LogFile` opens the write-ahead log, because SQLite creates the log only when a connection reads.
  database.prepare('SELECT count(*) FROM clock').get();
  const log = new LogFile(database);
  let waiting: (() => () => void)[] = [];
  const commit = async () => {
    const removals = waiting;
    waiting = [];
    database.run('BEGIN IMMEDIATE');
    const responses = removals.map((remove) => remove());
    database.run('COMMIT');
    await log.sync();
    for (const respond of responses) respond();
  };
  const server = createServer(({ url = '' }, response) => {
    const { id } = userKey(decodeURIComponent(url.split('/')[3] ?? ''));
    if (waiting.length === 0) setImmediate(() => void commit());
    waiting.push(() => {
      const { changes } = update.run(id);
      return () => response.writeHead(changes === 1 ? 200 : 404, { 'content-type': 'application/json' }).end('{}');
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the system assigned no port');
  process.stdout.write(`listening on http://127.0.0.1:${address.port}\n`);
}

const [, , loop = '', file = '', newFile = ''] = process.argv;
const source = connectSqlite({ file, busyTimeout: 0 });
if (loop === 'serve') await serve(source);
else {
  const loops: Readonly<Record<string, () => void>> = {
    write: () => write(source, newFile),
    'look-up': () => lookUp(source),
    read: () => read(source),
  };
  loops[loop]?.();
  process.stdout.write(`${JSON.stringify({ milliseconds, peakMegabytes: process.resourceUsage().maxRSS / 1_024 })}\n`);
}
