import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { completeFile } from '../../durableFiles.ts';
import { notInstanceFile } from '../../errors/commandErrors.ts';
import type { Connection } from '../../store/sqlite/connection.ts';
import { isTrailFile, listTrailFiles } from './trailFiles.ts';
import { holdTrail } from './trailLock.ts';

// The table of a backup that holds the trail. A database in use has none.
const TABLE = 'audit_trail';

const tableRows = z.array(z.tuple([z.string()]));
const contentRow = z.tuple([z.instanceof(Uint8Array)]);

/** Copies a trail's files into a backup, so that the backup stays one file. */
export async function storeTrail(backup: Connection, directory: string): Promise<void> {
  backup.execute(`CREATE TABLE ${TABLE} (name TEXT PRIMARY KEY, content BLOB NOT NULL) STRICT`);
  await holdTrail(directory, () => {
    const insert = backup.prepare(`INSERT INTO ${TABLE} (name, content) VALUES (?, ?)`);
    for (const name of listTrailFiles(directory)) insert.run(name, readFileSync(join(directory, name)));
  });
}

/**
 * Moves the trail of a backup from its copy into a directory that has none. A plain copy of a database holds none.
 * @throws IdentityError FAILED_PRECONDITION for a name that is no trail's file; Error of the file system
 */
export async function extractTrail(copy: Connection, directory: string): Promise<void> {
  if (!hasTable(copy)) return;
  const names = tableRows.parse(copy.prepare(`SELECT name FROM ${TABLE} ORDER BY name`).all()).map(([name]) => name);
  if (!names.every(isTrailFile)) throw notInstanceFile();
  try {
    for (const name of names) {
      const row = copy.prepare(`SELECT content FROM ${TABLE} WHERE name = ?`).get(name);
      await completeFile(join(directory, name), contentRow.parse(row)[0], 'new');
    }
    copy.execute(`DROP TABLE ${TABLE}`);
  } catch (error) {
    for (const name of names) rmSync(join(directory, name), { force: true });
    throw error;
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
