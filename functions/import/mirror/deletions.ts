// The records that a mirroring import deletes.

import { z } from 'zod';
import type { OnDeleting, Stored } from '../../../shared/accounts/dependents.ts';
import { type Counts, total } from '../../../shared/collections/counts.ts';
import { TemporaryDatabase } from '../../../shared/collections/temporaryDatabase.ts';
import { recordSection } from '../../../shared/organisation/allSections.ts';
import { type DeletionGroup, deletionGroup } from '../../../shared/organisation/describedRecord.ts';
import { MAX_LISTED_ISSUES } from '../../../shared/organisation/recordErrors.ts';
import type { Section } from '../../../shared/organisation/sections/section.ts';
import { userKey } from '../../../shared/store/documentKeys.ts';
import { collections, type DocumentKey, documentPath } from '../../../shared/store/store.ts';
import type { ImportWarning } from '../contract.ts';
import type { DoomedRecord, RecordOutcome } from '../stages.ts';

const RECORD = 'path TEXT PRIMARY KEY, collection TEXT, id TEXT, section TEXT, org TEXT, phase INTEGER';
const TABLES = `
  CREATE TABLE file (path TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;
  CREATE TABLE deletions (
    ${RECORD},
    held INTEGER DEFAULT 0, freed INTEGER DEFAULT 0, early INTEGER DEFAULT 0, done INTEGER DEFAULT 0
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE holders (
    ${RECORD},
    early INTEGER DEFAULT 0, kind TEXT
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE along (
    path TEXT PRIMARY KEY, kind TEXT, collection TEXT, id TEXT, user TEXT, org TEXT, done INTEGER DEFAULT 0
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX along_by_user ON along (user);
  CREATE TABLE edges (source TEXT, target TEXT, PRIMARY KEY (source, target)) STRICT, WITHOUT ROWID;
  CREATE INDEX edges_by_target ON edges (target);
`;

const row = z.object({
  path: z.string(),
  collection: z.enum(collections),
  id: z.string(),
  section: z.string(),
  org: z.string(),
});
const sectionRow = z.object({ section: z.string() });
const foreseenRow = z.object({ kind: z.enum(['overwritten', 'unchanged']) });
const alongRow = z.object({ path: z.string(), collection: z.enum(collections), id: z.string(), org: z.string() });
const countRow = z.object({ section: z.string(), records: z.number() });

/** The number of paths that one statement inserts: a statement for each path would take three times as long. */
const INSERTED_TOGETHER = 50;

/** The number of records that are deleted at a time. */
const BATCH = 100;

/** The outcome of a record of the file if the import does not delete the stored version first. */
interface ForeseenOutcome {
  readonly kind: 'overwritten' | 'unchanged';
  readonly writeWarnings?: readonly ImportWarning[];
}

/** A token or an instance role that is deleted with its user. */
export interface AlongDocument {
  readonly key: DocumentKey;
  /** The user's organisation. */
  readonly orgId: string;
}

/** When to delete records: `early` before the import writes the file's records, or `late` after that. */
type Part = 'early' | 'late';

/**
 * The records to delete: stored records of the file's organisations that the file does not contain. Also stores which
 * records require other records. All tables are in a temporary file.
 */
export class Deletions implements Disposable {
  private readonly database = new TemporaryDatabase(TABLES);
  /** The final counts, which the audit trail records after the import. */
  private finallyDone: Counts | undefined;
  /** The paths of the file's records that are not in the table `file` yet. */
  private filePaths: string[] = [];
  private hasDeletions = false;
  private hasHolders = false;
  /** The warnings from the trial about records in the table `holders`. */
  private readonly warnings = new Map<string, readonly ImportWarning[]>();

  /** Notes that the file contains a record, so that the import does not delete the stored record with the same path. */
  addFileRecord(path: string): void {
    this.filePaths.push(path);
    if (this.filePaths.length === INSERTED_TOGETHER) this.insertFilePaths();
  }

  /** Forgets which records the file contains, because the file is read again. */
  resetFile(): void {
    this.filePaths = [];
    this.database.run('DELETE FROM file');
  }

  /** Whether the file has a record with this path. */
  isInFile(path: string): boolean {
    if (this.filePaths.length > 0) this.insertFilePaths();
    return this.finds('SELECT 1 FROM file WHERE path = ?', path);
  }

  private insertFilePaths(): void {
    const paths = this.filePaths;
    this.filePaths = [];
    this.database.run(`INSERT OR IGNORE INTO file VALUES (?)${', (?)'.repeat(paths.length - 1)}`, ...paths);
  }

  /** Adds a stored record unless the file contains the record too. */
  add(record: DoomedRecord): void {
    if (this.isInFile(documentPath(record.key))) return;
    this.addTo('deletions', record);
    this.hasDeletions = true;
  }

  /** Whether a stored record is to be deleted. */
  has(path: string): boolean {
    return this.hasDeletions && this.finds('SELECT 1 FROM deletions WHERE path = ?', path);
  }

  /** Whether a stored record is to be deleted, or the file contains the record. */
  knows(path: string): boolean {
    return this.has(path) || this.isInFile(path);
  }

  /** Adds a token or an instance role that is deleted with its user. */
  addAlong(kind: 'tokens' | 'instanceMembers', { collection, id }: DocumentKey, userId: string): void {
    const user = documentPath(userKey(userId));
    this.database.run(
      `INSERT OR IGNORE INTO along (path, kind, collection, id, user, org)
       SELECT ?, ?, ?, ?, ?, org FROM deletions WHERE path = ?`,
      ...[documentPath({ collection, id }), kind, collection, id, user, user],
    );
  }

  /**
   * Whether a document is deleted: as a record, with its user, or before the file's record with the same key is
   * written.
   */
  covers(path: string): boolean {
    return this.has(path) || this.isReplaced(path) || this.finds('SELECT 1 FROM along WHERE path = ?', path);
  }

  /**
   * Prevents the deletion of a record: another call has changed the record, or the file contains the record after the
   * import has completed a field.
   */
  keep(path: string): void {
    this.database.run('DELETE FROM deletions WHERE path = ?', path);
    this.database.run('DELETE FROM along WHERE user = ?', path);
  }

  /** Adds a record of the file whose stored version requires records to delete. */
  addHolder(record: DoomedRecord): void {
    this.addTo('holders', record);
    this.hasHolders = true;
  }

  /** Whether the stored version of a record of the file requires records to delete. */
  isHolder(path: string): boolean {
    return this.hasHolders && this.finds('SELECT 1 FROM holders WHERE path = ?', path);
  }

  /** Yields the sections of the records that `addHolder` added. */
  *holderSections(): Generator<Section> {
    for (const one of this.database.all('SELECT DISTINCT section FROM holders'))
      yield recordSection(sectionRow.parse(one).section);
  }

  /**
   * Marks a stored record for deletion before the import writes the file's records. The file may contain the record
   * too.
   */
  deleteEarly(record: DoomedRecord): void {
    const path = documentPath(record.key);
    if (this.isInFile(path)) this.addHolder(record);
    for (const table of ['deletions', 'holders'])
      this.database.run(`UPDATE ${table} SET early = 1 WHERE path = ?`, path);
  }

  /** Whether the stored version of a record is deleted before the file's records are written. */
  isReplaced(path: string): boolean {
    return this.hasHolders && this.finds('SELECT 1 FROM holders WHERE path = ? AND early = 1', path);
  }

  /** Saves the outcome of a record in the trial, which does not delete the stored version first. */
  foresee(path: string, { kind, writeWarnings }: ForeseenOutcome): void {
    if (!this.isHolder(path)) return;
    this.database.run('UPDATE holders SET kind = ? WHERE path = ?', kind, path);
    if (writeWarnings !== undefined && this.warnings.size < MAX_LISTED_ISSUES) this.warnings.set(path, writeWarnings);
  }

  /** Returns the outcome of a replaced record in the trial. */
  foreseen(path: string): ForeseenOutcome | undefined {
    if (!this.isReplaced(path)) return undefined;
    const sql = 'SELECT kind FROM holders WHERE path = ? AND kind IS NOT NULL';
    const found = this.database.statement(sql).get(path);
    if (found === undefined) return undefined;
    const { kind } = foreseenRow.parse(found);
    const writeWarnings = this.warnings.get(path);
    return writeWarnings === undefined ? { kind } : { kind, writeWarnings };
  }

  /** Stores that the record `source` requires the record `target`. */
  addRequirement(source: string, target: string): void {
    this.database.run('INSERT OR IGNORE INTO edges VALUES (?, ?)', source, target);
  }

  /**
   * Prevents the deletion of a record, and of all records that it requires, until the file's records are written. Until
   * then, a stored record that the import does not delete may require this record.
   */
  hold(path: string): void {
    this.database.run(
      `WITH RECURSIVE required(path) AS (
         VALUES (?) UNION SELECT target FROM edges JOIN required ON edges.source = required.path
       ) UPDATE deletions SET held = 1 WHERE path IN (SELECT path FROM required)`,
      path,
    );
  }

  /** Returns the key of a record that can be deleted in the commit of the record that needs its name. */
  findFree(path: string): DocumentKey | undefined {
    const sql = 'SELECT path, collection, id, section, org FROM deletions WHERE path = ? AND held = 0';
    const found = this.database.statement(sql).get(path);
    if (found === undefined) return undefined;
    const { collection, id } = row.parse(found);
    return { collection, id };
  }

  /** Marks a record as freed: the commit of the record that needs its name deletes it. */
  markFreed(path: string): void {
    this.database.run('UPDATE deletions SET freed = 1 WHERE path = ?', path);
  }

  /**
   * Marks the records that require a freed record, because they must be deleted before it. The file may contain such
   * records too.
   */
  settle(): void {
    for (const table of ['deletions', 'holders'])
      this.database.run(
        `WITH RECURSIVE requiring(path) AS (
           SELECT source FROM edges JOIN deletions ON target = path WHERE freed = 1
           UNION SELECT source FROM edges JOIN requiring ON target = requiring.path
         ) UPDATE ${table} SET early = 1 WHERE path IN (SELECT path FROM requiring)`,
      );
  }

  /** Marks a record as deleted. */
  markDone(path: string): void {
    for (const table of ['deletions', 'along']) this.database.run(`UPDATE ${table} SET done = 1 WHERE path = ?`, path);
  }

  /** Marks documents as deleted. */
  readonly markFound = (found: readonly Pick<Stored, 'key'>[]): void => {
    for (const { key } of found) this.markDone(documentPath(key));
  };

  /** Whether a document is deleted. */
  isDone(path: string): boolean {
    const done = (table: string) => this.finds(`SELECT 1 FROM ${table} WHERE path = ? AND done = 1`, path);
    return done('deletions') || done('along');
  }

  /** Marks all records as deleted, for a dry run. */
  markAllDone(): void {
    for (const table of ['deletions', 'along']) this.database.run(`UPDATE ${table} SET done = 1`);
  }

  get size(): number {
    return total(this.countWhere('TRUE'));
  }

  /** The numbers of the deleted records by section, and of the tokens and instance roles of deleted users. */
  get done(): Counts {
    return this.finallyDone ?? this.countWhere('done = 1');
  }

  /** Yields the users whose names the file's records need. */
  freedUsers(): Generator<readonly DoomedRecord[]> {
    return this.batches("freed = 1 AND collection = 'users'");
  }

  /** Yields the records of a phase that are deleted early or late, except users. */
  *ofPhase(phase: number, part: Part): Generator<readonly DoomedRecord[]> {
    const isEarly = part === 'early';
    yield* this.batches(`phase = ? AND collection <> 'users' AND early = ${isEarly ? 1 : 0}`, phase);
    if (isEarly) yield* this.batchesOf('holders', 'phase = ? AND early = 1', phase);
  }

  /** Yields the users to delete. */
  users(): Generator<readonly DoomedRecord[]> {
    return this.ofGroup('users');
  }

  /** Yields the records to delete of a group. */
  ofGroup(group: DeletionGroup): Generator<readonly DoomedRecord[]> {
    const names = collections.filter((collection) => deletionGroup(collection) === group);
    return this.batches(`collection IN (${names.map((name) => `'${name}'`).join(', ')})`);
  }

  [Symbol.dispose](): void {
    this.finallyDone = this.done;
    this.database[Symbol.dispose]();
  }

  /** Yields the tokens and instance roles that are deleted with their users. */
  *along(): Generator<readonly AlongDocument[]> {
    const sql = `SELECT path, collection, id, org FROM along WHERE path > ? ORDER BY path LIMIT ${BATCH}`;
    for (let after = ''; ; ) {
      const rows = this.database.all(sql, after).map((one) => alongRow.parse(one));
      const last = rows.at(-1);
      if (last === undefined) return;
      after = last.path;
      yield rows.map(({ collection, id, org }) => ({ key: { collection, id }, orgId: org }));
    }
  }

  private addTo(table: 'deletions' | 'holders', { key, section, orgId }: DoomedRecord): void {
    this.database.run(
      `INSERT OR IGNORE INTO ${table} (path, collection, id, section, org, phase) VALUES (?, ?, ?, ?, ?, ?)`,
      ...[documentPath(key), key.collection, key.id, section.name, orgId, section.phase],
    );
  }

  private batches(condition: string, ...values: readonly number[]): Generator<readonly DoomedRecord[]> {
    return this.batchesOf('deletions', condition, ...values);
  }

  private *batchesOf(
    table: 'deletions' | 'holders',
    condition: string,
    ...values: readonly number[]
  ): Generator<readonly DoomedRecord[]> {
    const sql = `SELECT path, collection, id, section, org FROM ${table} WHERE ${condition} AND path > ? ORDER BY path LIMIT ${BATCH}`;
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
    const sql = `
      SELECT section, count(*) AS records FROM deletions WHERE ${condition} GROUP BY section
      UNION ALL SELECT kind, count(*) FROM along WHERE ${condition} GROUP BY kind`;
    const counts = this.database.all(sql).map((one) => countRow.parse(one));
    return Object.fromEntries(counts.map(({ section, records }) => [section, records]));
  }

  private finds(sql: string, path: string): boolean {
    return this.database.statement(sql).get(path) !== undefined;
  }
}

/** The deletions of a mirroring import, for the functions that write the file's records. */
export interface Mirror {
  readonly deletions: Deletions;
  /** Whether the records are deleted. If not, the records only count as missing, and keep their names. */
  readonly isDeleting: boolean;
  /** The organisations in which the file replaces records that other calls have changed. */
  readonly adopts: ReadonlySet<string>;
  /** Called in the transaction that writes a record and deletes the records whose names it needs. */
  readonly onFreeing: OnDeleting;
  /** Called with the path of each record that was deleted in the commit of the record that needed its name. */
  readonly onFreed: (path: string) => void;
  /** Called with the outcome of each record; returns the outcome to report. */
  readonly onSettled: (path: string, outcome: RecordOutcome) => RecordOutcome;
}

/** Whether an import deletes a stored record. */
export function isDeleted(path: string, mirror: Mirror | undefined): boolean {
  return mirror?.isDeleting === true && isDoomed(path, mirror);
}

/** Whether a stored record counts as missing for the records of the file, even if nothing is deleted. */
export function isDoomed(path: string, mirror: Mirror | undefined): boolean {
  return mirror?.deletions.has(path) === true;
}
