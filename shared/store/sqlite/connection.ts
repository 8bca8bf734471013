import { DatabaseSync, type StatementSync } from 'node:sqlite';

/** A connection to a database file that prepares each statement once. */
export interface Connection {
  readonly file: string;
  execute(sql: string): void;
  inTransaction(): boolean;
  /** The statement of `sql`, for one run at a time: its rows come as arrays. */
  prepare(sql: string): StatementSync;
  /** As `prepare`, but the caller's own until `release`: for rows that are read bit by bit. */
  borrow(sql: string): StatementSync;
  release(sql: string, statement: StatementSync): void;
  close(): void;
}

/** What a connection does when another process holds a lock: how many milliseconds it blocks this process before it fails. */
export interface ConnectionOptions {
  readonly file: string;
  readonly busyTimeout: number;
}

/**
 * Opens a connection to a database file that exists already.
 * @throws Error of SQLite
 */
export function connect({ file, busyTimeout }: ConnectionOptions): Connection {
  const database = new DatabaseSync(file);
  database.exec(
    `PRAGMA busy_timeout = ${busyTimeout}; PRAGMA synchronous = FULL; PRAGMA journal_size_limit = 67108864`,
  );
  const prepared = new Map<string, StatementSync>();
  const idle = new Map<string, StatementSync[]>();
  const make = (sql: string) => {
    const statement = database.prepare(sql);
    statement.setReturnArrays(true);
    return statement;
  };
  return {
    file,
    execute: (sql) => database.exec(sql),
    inTransaction: () => database.isTransaction,
    prepare: (sql) => prepared.get(sql) ?? remember(prepared, sql, make(sql)),
    borrow: (sql) => idle.get(sql)?.pop() ?? make(sql),
    release: (sql, statement) => (idle.get(sql) ?? remember(idle, sql, [])).push(statement),
    close: () => database.close(),
  };
}

function remember<Value>(map: Map<string, Value>, sql: string, value: Value): Value {
  map.set(sql, value);
  return value;
}
