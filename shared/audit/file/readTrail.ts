import { closeSync, createReadStream, existsSync, fstatSync, openSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { z } from 'zod';
import { completeFile } from '../../durableFiles.ts';
import { notInstanceFile } from '../../errors/commandErrors.ts';
import { parseIfJson } from '../../json/jsonObject.ts';
import { checkOwn } from '../../ownFiles.ts';
import type { Connection } from '../../store/sqlite/connection.ts';
import { type AuditEvent, auditEvent } from '../auditEvent.ts';
import { holdTrail, isTrailFile, listTrailFiles, rotationTime } from './trailFiles.ts';

/** An open file of a trail, of which the first `size` bytes are whole lines. */
interface ReadableFile {
  readonly path: string;
  readonly descriptor: number;
  readonly size: number;
}

/**
 * Yields the events of a trail since a moment, oldest first, without those that are appended meanwhile.
 * @param onDamaged receives a file's path for each line that is no event, such as one that a power cut has torn
 */
export async function* readAuditEvents(
  directory: string,
  since: Date,
  onDamaged: (path: string) => void,
): AsyncGenerator<AuditEvent> {
  using resources = new DisposableStack();
  const files = await openFiles(directory, since);
  for (const { descriptor } of files) resources.defer(() => closeSync(descriptor));
  for (const { path, descriptor, size } of files) {
    if (size === 0) continue;
    const input = createReadStream(path, { fd: descriptor, autoClose: false, start: 0, end: size - 1 });
    for await (const line of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })) {
      if (line === '') continue;
      const event = parseEvent(line);
      if (event === undefined) onDamaged(path);
      else if (Date.parse(event.time) >= since.getTime()) yield event;
    }
  }
}

/** Opens the files while no process appends, rotates or deletes. */
function openFiles(directory: string, since: Date): Promise<readonly ReadableFile[]> {
  return holdTrail(directory, () => {
    const names = listTrailFiles(directory).filter((name) => (rotationTime(name) ?? since) >= since);
    for (const name of names) checkOwn(join(directory, name), 'data');
    return names.map((name) => {
      const path = join(directory, name);
      const descriptor = openSync(path, 'r');
      return { path, descriptor, size: fstatSync(descriptor).size };
    });
  });
}

function parseEvent(line: string): AuditEvent | undefined {
  const { success, data } = auditEvent.safeParse(parseIfJson(line));
  return success ? data : undefined;
}

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
