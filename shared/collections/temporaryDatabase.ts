import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';

/**
 * Opens a database in an unnamed temporary file, for data that does not fit into memory. The operating system removes
 * the file when the process ends. So the data need not be durable, and a single transaction without a journal suffices.
 */
export function openTemporaryDatabase(tables: string): DatabaseSync {
  const database = new DatabaseSync('');
  database.exec(`PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; ${tables}; BEGIN`);
  return database;
}

/** A temporary database that prepares each SQL statement only once. */
export class TemporaryDatabase implements Disposable {
  private readonly database: DatabaseSync;
  private readonly statements = new Map<string, StatementSync>();

  constructor(tables: string) {
    this.database = openTemporaryDatabase(tables);
  }

  create(tables: string): void {
    this.database.exec(tables);
  }

  statement(sql: string): StatementSync {
    const statement = this.statements.get(sql) ?? this.database.prepare(sql);
    this.statements.set(sql, statement);
    return statement;
  }

  run(sql: string, ...values: readonly SQLInputValue[]): void {
    this.statement(sql).run(...values);
  }

  all(sql: string, ...values: readonly SQLInputValue[]): unknown[] {
    return this.statement(sql).all(...values);
  }

  [Symbol.dispose](): void {
    this.database.close();
  }
}
