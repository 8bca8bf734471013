import { DatabaseSync } from 'node:sqlite';

/**
 * Opens a database in an unnamed temporary file, which the operating system removes: for what is too much for memory.
 * Nothing of it is kept, so one transaction without a journal serves for all.
 */
export function openTemporaryDatabase(tables: string): DatabaseSync {
  const database = new DatabaseSync('');
  database.exec(`PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; ${tables}; BEGIN`);
  return database;
}
