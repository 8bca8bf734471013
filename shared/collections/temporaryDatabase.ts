import { DatabaseSync } from 'node:sqlite';

/**
 * Opens a database in an unnamed temporary file, which the operating system removes, for data that exceeds memory. It does
 * not survive the process, so it needs only one transaction and no journal.
 */
export function openTemporaryDatabase(tables: string): DatabaseSync {
  const database = new DatabaseSync('');
  database.exec(`PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; ${tables}; BEGIN`);
  return database;
}
