// The records that a mirroring import deletes.

import { z } from 'zod';
import type { Counts } from '../../../shared/collections/counts.ts';
import { TemporaryDatabase } from '../../../shared/collections/temporaryDatabase.ts';
import { recordSection } from '../../../shared/organisation/allSections.ts';
import type { Section } from '../../../shared/organisation/section.ts';
import { collections, type DocumentKey, documentPath } from '../../../shared/store/store.ts';

/** A record to delete. */
export interface DoomedRecord {
  readonly key: DocumentKey;
  readonly section: Section;
  readonly orgId: string;
}

const TABLES = `
  CREATE TABLE file (path TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;
  CREATE TABLE deletions (
    path TEXT PRIMARY KEY, collection TEXT, id TEXT, section TEXT, org TEXT, phase INTEGER,
    held INTEGER DEFAULT 0, freed INTEGER DEFAULT 0, early INTEGER DEFAULT 0, done INTEGER DEFAULT 0
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE along (path TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;
  CREATE TABLE edges (source TEXT, target TEXT, PRIMARY KEY (source, target)) STRICT, WITHOUT ROWID;
`;

const row = z.object({
  path: z.string(),
  collection: z.enum(collections),
  id: z.string(),
  section: z.string(),
  org: z.string(),
});
const countRow = z.object({ section: z.string(), records: z.number() });

/** The number of records that are deleted at a time. */
const BATCH = 100;

/** Which of the deletions: those for the names that the file's records take, or all others. */
type Part = 'early' | 'late';

/**
 * The records that the organisations of a file have and the file lacks, in a temporary file, and what requires what among
 * them.
 */
export class Deletions implements Disposable {
  private readonly database = new TemporaryDatabase(TABLES);
  /** The final numbers, which the audit trail gets after the import. */
  private finallyDone: Counts | undefined;

  /** Adds a record of the file, which is not deleted. */
  addFileRecord(path: string): void {
    this.database.run('INSERT OR IGNORE INTO file VALUES (?)', path);
  }

  /** Forgets the records of the file, since it is read again. */
  resetFile(): void {
    this.database.run('DELETE FROM file');
  }

  /** Whether a record of the file has a path. */
  isInFile(path: string): boolean {
    return this.finds('SELECT 1 FROM file WHERE path = ?', path);
  }

  /** Adds a stored record unless the file has it. */
  add({ key, section, orgId }: DoomedRecord): void {
    const path = documentPath(key);
    if (this.isInFile(path)) return;
    const values = [path, key.collection, key.id, section.name, orgId, section.phase];
    this.database.run(
      'INSERT OR IGNORE INTO deletions (path, collection, id, section, org, phase) VALUES (?, ?, ?, ?, ?, ?)',
      ...values,
    );
  }

  /** Whether a stored record is to be deleted. */
  has(path: string): boolean {
    return this.finds('SELECT 1 FROM deletions WHERE path = ?', path);
  }

  /** Adds a document that goes along with a user, and is no record of an organisation. */
  addAlong(path: string): void {
    this.database.run('INSERT OR IGNORE INTO along VALUES (?)', path);
  }

  /** Whether a document goes, as a record or along with a user. */
  covers(path: string): boolean {
    return this.has(path) || this.finds('SELECT 1 FROM along WHERE path = ?', path);
  }

  /** Keeps a record: the file has it after all, with a key that stored records complete. */
  keep(path: string): void {
    this.database.run('DELETE FROM deletions WHERE path = ?', path);
  }

  /** Adds that one of the records requires another one. */
  addRequirement(source: string, target: string): void {
    this.database.run('INSERT OR IGNORE INTO edges VALUES (?, ?)', source, target);
  }

  /** Keeps a record, and all that it requires, until the file's records are written: one of these requires it before. */
  hold(path: string): void {
    this.database.run(
      `WITH RECURSIVE required(path) AS (
         VALUES (?) UNION SELECT target FROM edges JOIN required ON edges.source = required.path
       ) UPDATE deletions SET held = 1 WHERE path IN (SELECT path FROM required)`,
      path,
    );
  }

  /** Finds a record that can be deleted with the commit of one that takes its name; returns its key. */
  findFree(path: string): DocumentKey | undefined {
    const sql = 'SELECT path, collection, id, section, org FROM deletions WHERE path = ? AND held = 0';
    const found = this.database.statement(sql).get(path);
    if (found === undefined) return undefined;
    const { collection, id } = row.parse(found);
    return { collection, id };
  }

  /** Marks a record that is deleted with the commit of one that takes its name. */
  markFreed(path: string): void {
    this.database.run('UPDATE deletions SET freed = 1 WHERE path = ?', path);
  }

  /** Marks a record that must be deleted before the file's records are written. */
  markEarly(path: string): void {
    this.database.run('UPDATE deletions SET early = 1 WHERE path = ?', path);
  }

  /** Marks the records that require a freed one: they are deleted before it. */
  settle(): void {
    this.database.run(
      `WITH RECURSIVE requiring(path) AS (
         SELECT source FROM edges JOIN deletions ON target = path WHERE freed = 1
         UNION SELECT source FROM edges JOIN requiring ON target = requiring.path
       ) UPDATE deletions SET early = 1 WHERE path IN (SELECT path FROM requiring)`,
    );
  }

  /** Marks a record that is deleted. */
  markDone(path: string): void {
    this.database.run('UPDATE deletions SET done = 1 WHERE path = ?', path);
  }

  get size(): number {
    return (
      this.database
        .all("SELECT count(*) AS records, '' AS section FROM deletions")
        .map((one) => countRow.parse(one).records)[0] ?? 0
    );
  }

  /** The numbers of records by section. */
  get counts(): Counts {
    return this.countWhere('TRUE');
  }

  /** The numbers of those that are deleted, by section. */
  get done(): Counts {
    return this.finallyDone ?? this.countWhere('done = 1');
  }

  /** Yields the users whose names the file's records take. */
  freedUsers(): Generator<readonly DoomedRecord[]> {
    return this.batches("freed = 1 AND collection = 'users'");
  }

  /** Yields the records of a phase, except users. */
  ofPhase(phase: number, part: Part): Generator<readonly DoomedRecord[]> {
    return this.batches(`phase = ? AND collection <> 'users' AND early = ${part === 'early' ? 1 : 0}`, phase);
  }

  /** Yields the users. */
  users(): Generator<readonly DoomedRecord[]> {
    return this.batches("collection = 'users'");
  }

  /** Yields all records: users, then members and grants, then the others. */
  *listed(): Generator<readonly DoomedRecord[]> {
    yield* this.users();
    yield* this.batches("collection IN ('members', 'userGrants', 'projectGrants')");
    yield* this.batches("collection NOT IN ('users', 'members', 'userGrants', 'projectGrants')");
  }

  [Symbol.dispose](): void {
    this.finallyDone = this.done;
    this.database[Symbol.dispose]();
  }

  private *batches(condition: string, ...values: readonly number[]): Generator<readonly DoomedRecord[]> {
    const sql = `SELECT path, collection, id, section, org FROM deletions WHERE ${condition} AND path > ? ORDER BY path LIMIT ${BATCH}`;
    for (let after = ''; ; ) {
      const rows = this.database.all(sql, ...values, after).map((one) => row.parse(one));
      const last = rows.at(-1);
      if (last === undefined) return;
      after = last.path;
      yield rows.map(({ collection, id, section, org }) => ({
        key: { collection, id },
        section: recordSection(section),
        orgId: org,
      }));
    }
  }

  private countWhere(condition: string): Counts {
    const sql = `SELECT section, count(*) AS records FROM deletions WHERE ${condition} GROUP BY section`;
    const counts = this.database.all(sql).map((one) => countRow.parse(one));
    return Object.fromEntries(counts.map(({ section, records }) => [section, records]));
  }

  private finds(sql: string, path: string): boolean {
    return this.database.statement(sql).get(path) !== undefined;
  }
}

/** What a mirroring import deletes, as the functions that write the file's records know it. */
export interface Mirror {
  readonly deletions: Deletions;
  /** Whether the records are deleted; otherwise they only count as missing, and keep their names. */
  readonly isDeleting: boolean;
  /** Called with the path of a record that was deleted with the commit of one that took its name. */
  readonly onFreed: (path: string) => void;
}

/** Whether an import deletes a stored record. */
export function isDeleted(path: string, mirror: Mirror | undefined): boolean {
  return mirror?.isDeleting === true && mirror.deletions.has(path);
}
