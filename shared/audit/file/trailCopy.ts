import { closeSync, existsSync, fsyncSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { OWNER_ONLY, syncDirectory } from '../../durableFiles.ts';
import { notInstanceFile } from '../../errors/accountErrors.ts';
import type { Connection } from '../../store/sqlite/connection.ts';
import { isTrailFile, listTrailFiles } from './trailFiles.ts';
import { openTrailLock } from './trailLock.ts';

// The table of a backup that holds the trail. A database in use has none.
const TABLE = 'audit_trail';

const tableRows = z.array(z.tuple([z.string()]));
const contentRow = z.tuple([z.instanceof(Uint8Array)]);

/** Copies a trail's files into a backup, so that the backup stays one file. */
export async function storeTrail(backup: Connection, directory: string): Promise<void> {
  backup.execute(`CREATE TABLE ${TABLE} (name TEXT PRIMARY KEY, content BLOB NOT NULL) STRICT`);
  const lock = openTrailLock(directory);
  try {
    await lock.hold(() => {
      const insert = backup.prepare(`INSERT INTO ${TABLE} (name, content) VALUES (?, ?)`);
      for (const name of listTrailFiles(directory)) insert.run(name, readFileSync(join(directory, name)));
    });
  } finally {
    lock.close();
  }
}

/**
 * Moves the trail of a backup from its copy into a directory that has none. A plain copy of a database holds none.
 * @returns the written files
 * @throws IdentityError FAILED_PRECONDITION for a name that is no trail's file; Error of the file system
 */
export function extractTrail(copy: Connection, directory: string): readonly string[] {
  if (!hasTable(copy)) return [];
  const names = tableRows.parse(copy.prepare(`SELECT name FROM ${TABLE} ORDER BY name`).all()).map(([name]) => name);
  if (!names.every(isTrailFile)) throw notInstanceFile();
  const files = names.map((name) => join(directory, name));
  try {
    for (const name of names) extractFile(copy, name, directory);
    syncDirectory(directory);
    copy.execute(`DROP TABLE ${TABLE}`);
    return files;
  } catch (error) {
    for (const file of files) rmSync(file, { force: true });
    throw error;
  }
}

function extractFile(copy: Connection, name: string, directory: string): void {
  const [content] = contentRow.parse(copy.prepare(`SELECT content FROM ${TABLE} WHERE name = ?`).get(name));
  const descriptor = openSync(join(directory, name), 'wx', OWNER_ONLY);
  try {
    writeFileSync(descriptor, content);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

function hasTable(connection: Connection): boolean {
  const query = `SELECT name FROM sqlite_schema WHERE type = 'table' AND name = '${TABLE}'`;
  return connection.prepare(query).get() !== undefined;
}

/** Whether a directory holds files of a trail. */
export function hasTrail(directory: string): boolean {
  return existsSync(directory) && listTrailFiles(directory).length > 0;
}
