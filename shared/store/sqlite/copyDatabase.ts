import { access } from 'node:fs/promises';
import { dirname } from 'node:path';
import { backup, DatabaseSync } from 'node:sqlite';
import { completeFile, makeDirectory } from '../../durableFiles.ts';
import { notInstanceFile } from '../../errors/accountErrors.ts';
import type { Keyring } from '../secrets/keyring.ts';
import { type Connection, connect, toStoreError } from './connection.ts';
import { checkDatabase, isUnused } from './databaseFile.ts';

const BUSY_TIMEOUT_MILLISECONDS = 5_000;

/** How a database is copied. */
export interface CopyOptions {
  /** The keys that the database must have. */
  readonly keyring: Keyring;
  /** Changes the copy before it appears. */
  readonly complete: (copy: Connection) => Promise<void>;
}

/**
 * Copies the present state of a database into a new file, which only its owner can read. Other connections may write to
 * the database meanwhile. The copy appears under its name when it is complete and durable.
 * @throws IdentityError for a file that is no database of an instance, of another format, or of another key, before
 * anything is written; Error of the file system, EEXIST where the name is taken
 */
export async function copyDatabase(source: string, target: string, options: CopyOptions): Promise<void> {
  await access(source);
  const write = async (partial: string) => {
    await copyPages(source, partial);
    await makeSelfContained(partial, options);
  };
  try {
    checkSource(source, options.keyring);
    makeDirectory(dirname(target));
    await completeFile(target, write, 'new');
  } catch (reason) {
    throw toStoreError(reason);
  }
}

function checkSource(file: string, keyring: Keyring): void {
  const connection = connect({ file, busyTimeout: BUSY_TIMEOUT_MILLISECONDS, readOnly: true });
  try {
    if (isUnused(connection)) throw notInstanceFile();
    checkDatabase(connection, keyring);
  } finally {
    connection.close();
  }
}

async function copyPages(source: string, target: string): Promise<void> {
  using database = new DatabaseSync(source, { readOnly: true, timeout: BUSY_TIMEOUT_MILLISECONDS });
  // Without a read transaction, each commit of another connection would start the copy over.
  database.exec('BEGIN; SELECT count(*) FROM sqlite_schema');
  await backup(database, target);
}

/** Turns a copy into one file without a log beside it, and checks it. */
async function makeSelfContained(file: string, { complete }: CopyOptions): Promise<void> {
  const connection = connect({ file, busyTimeout: BUSY_TIMEOUT_MILLISECONDS });
  try {
    if (!isIntact(connection)) throw notInstanceFile();
    connection.execute('PRAGMA journal_mode = DELETE');
    await complete(connection);
  } finally {
    connection.close();
  }
}

function isIntact(connection: Connection): boolean {
  const row: unknown = connection.prepare('PRAGMA quick_check(1)').get();
  return Array.isArray(row) && row[0] === 'ok';
}
