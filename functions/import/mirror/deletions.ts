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
  CREATE TABLE dependents (
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

/** The number of paths that one SQL statement inserts. A statement for each path would take three times as long. */
const INSERTED_TOGETHER = 50;

const BATCH = 100;

/**
 * The outcome that the simulation predicts for a record of the file. The simulation overwrites the stored version,
 * whereas the import may delete it and create the record again.
 */
interface ForeseenOutcome {
  readonly kind: 'overwritten' | 'unchanged';
  readonly writeWarnings?: readonly ImportWarning[];
}

/** A token or an instance role that the import deletes together with its user. */
export interface AlongDocument {
  readonly key: DocumentKey;
  readonly orgId: string;
}

/** When the import deletes a record: `early` means before it writes the file's records, `late` means afterwards. */
type Part = 'early' | 'late';

/**
 * The stored records to delete: they belong to the file's organisations, but the file does not contain them. Another
 * table stores which records require other records: a record requires the target of a reference if the target must
 * exist. All tables are in a temporary file.
 */
export class Deletions implements Disposable {
  private readonly database = new TemporaryDatabase(TABLES);
  /**
   * The counts of deleted records. They are copied here when the temporary file is closed, because the audit trail
   * records them later.
   */
  private finallyDone: Counts | undefined;
  /** The paths of records of the export file that are not in the table `file` yet. */
  private filePaths: string[] = [];
  private hasDeletions = false;
  private hasDependents = false;
  private readonly warnings = new Map<string, readonly ImportWarning[]>();

  addFileRecord(path: string): void {
    this.filePaths.push(path);
    if (this.filePaths.length === INSERTED_TOGETHER) this.insertFilePaths();
  }

  /** Forgets which records the file contains, because the caller reads the file a second time. */
  resetFile(): void {
    this.filePaths = [];
    this.database.run('DELETE FROM file');
  }

  isInFile(path: string): boolean {
    if (this.filePaths.length > 0) this.insertFilePaths();
    return this.finds('SELECT 1 FROM file WHERE path = ?', path);
  }

  private insertFilePaths(): void {
    const paths = this.filePaths;
    this.filePaths = [];
    this.database.run(`INSERT OR IGNORE INTO file VALUES (?)${', (?)'.repeat(paths.length - 1)}`, ...paths);
  }

  add(record: DoomedRecord): void {
    if (this.isInFile(documentPath(record.key))) return;
    this.addTo('deletions', record);
    this.hasDeletions = true;
  }

  has(path: string): boolean {
    return this.hasDeletions && this.finds('SELECT 1 FROM deletions WHERE path = ?', path);
  }

  knows(path: string): boolean {
    return this.has(path) || this.isInFile(path);
  }

  addAlong(kind: 'tokens' | 'instanceMembers', { collection, id }: DocumentKey, userId: string): void {
    const user = documentPath(userKey(userId));
    this.database.run(
      `INSERT OR IGNORE INTO along (path, kind, collection, id, user, org)
       SELECT ?, ?, ?, ?, ?, org FROM deletions WHERE path = ?`,
      ...[documentPath({ collection, id }), kind, collection, id, user, user],
    );
  }

  /**
   * True if the import deletes a document: as a record of its own, together with a user, or to replace it with the
   * file's record of the same key.
   */
  covers(path: string): boolean {
    return this.has(path) || this.isReplaced(path) || this.finds('SELECT 1 FROM along WHERE path = ?', path);
  }

  /** Cancels the deletion of a stored record, for example because another call has changed the record. */
  keep(path: string): void {
    this.database.run('DELETE FROM deletions WHERE path = ?', path);
    this.database.run('DELETE FROM along WHERE user = ?', path);
  }

  /**
   * Adds a record of the file whose stored version requires records that the import deletes. Such a record is called a
   * dependent.
   */
  addDependent(record: DoomedRecord): void {
    this.addTo('dependents', record);
    this.hasDependents = true;
  }

  isDependent(path: string): boolean {
    return this.hasDependents && this.finds('SELECT 1 FROM dependents WHERE path = ?', path);
  }

  *dependentSections(): Generator<Section> {
    for (const columns of this.database.all('SELECT DISTINCT section FROM dependents'))
      yield recordSection(sectionRow.parse(columns).section);
  }

  /**
   * Lets the import delete a stored record before it writes the file's records. If the file contains the record, the
   * import then creates it anew.
   */
  deleteEarly(record: DoomedRecord): void {
    const path = documentPath(record.key);
    if (this.isInFile(path)) this.addDependent(record);
    for (const table of ['deletions', 'dependents'])
      this.database.run(`UPDATE ${table} SET early = 1 WHERE path = ?`, path);
  }

  /** True if the stored version of a record is deleted before the file's records are written. */
  isReplaced(path: string): boolean {
    return this.hasDependents && this.finds('SELECT 1 FROM dependents WHERE path = ? AND early = 1', path);
  }

  /** Saves the outcome that the simulation predicts for a record. See `ForeseenOutcome`. */
  foresee(path: string, { kind, writeWarnings }: ForeseenOutcome): void {
    if (!this.isDependent(path)) return;
    this.database.run('UPDATE dependents SET kind = ? WHERE path = ?', kind, path);
    if (writeWarnings !== undefined && this.warnings.size < MAX_LISTED_ISSUES) this.warnings.set(path, writeWarnings);
  }

  /** Returns the outcome that `foresee` saved, if the stored version of the record is deleted first. */
  foreseen(path: string): ForeseenOutcome | undefined {
    if (!this.isReplaced(path)) return undefined;
    const sql = 'SELECT kind FROM dependents WHERE path = ? AND kind IS NOT NULL';
    const columns = this.database.statement(sql).get(path);
    if (columns === undefined) return undefined;
    const { kind } = foreseenRow.parse(columns);
    const writeWarnings = this.warnings.get(path);
    return writeWarnings === undefined ? { kind } : { kind, writeWarnings };
  }

  addRequirement(source: string, target: string): void {
    this.database.run('INSERT OR IGNORE INTO edges VALUES (?, ?)', source, target);
  }

  /**
   * Delays the deletion of a record until the file's records are written, because stored records that the import keeps
   * may still refer to the record. All records that the record requires are delayed too.
   */
  hold(path: string): void {
    this.database.run(
      `WITH RECURSIVE required(path) AS (
         VALUES (?) UNION SELECT target FROM edges JOIN required ON edges.source = required.path
       ) UPDATE deletions SET held = 1 WHERE path IN (SELECT path FROM required)`,
      path,
    );
  }

  /**
   * Returns the key of a record to delete, if the import can delete the record in the commit that gives its name to
   * another record.
   */
  findFree(path: string): DocumentKey | undefined {
    const sql = 'SELECT path, collection, id, section, org FROM deletions WHERE path = ? AND held = 0';
    const columns = this.database.statement(sql).get(path);
    if (columns === undefined) return undefined;
    const { collection, id } = row.parse(columns);
    return { collection, id };
  }

  /**
   * Notes that another record needs the name of this record. The commit of the other record will then delete this
   * record.
   */
  markFreed(path: string): void {
    this.database.run('UPDATE deletions SET freed = 1 WHERE path = ?', path);
  }

  /**
   * Lets the import delete early all records that require, directly or through other records, a record for which
   * `markFreed` was called. The file may contain some of them.
   */
  settle(): void {
    for (const table of ['deletions', 'dependents'])
      this.database.run(
        `WITH RECURSIVE requiring(path) AS (
           SELECT source FROM edges JOIN deletions ON target = path WHERE freed = 1
           UNION SELECT source FROM edges JOIN requiring ON target = requiring.path
         ) UPDATE ${table} SET early = 1 WHERE path IN (SELECT path FROM requiring)`,
      );
  }

  markDone(path: string): void {
    for (const table of ['deletions', 'along']) this.database.run(`UPDATE ${table} SET done = 1 WHERE path = ?`, path);
  }

  /** A property, not a method, so that callers can pass it as a callback. */
  readonly markFound = (records: readonly Pick<Stored, 'key'>[]): void => {
    for (const { key } of records) this.markDone(documentPath(key));
  };

  isDone(path: string): boolean {
    const done = (table: string) => this.finds(`SELECT 1 FROM ${table} WHERE path = ? AND done = 1`, path);
    return done('deletions') || done('along');
  }

  markAllDone(): void {
    for (const table of ['deletions', 'along']) this.database.run(`UPDATE ${table} SET done = 1`);
  }

  get size(): number {
    return total(this.countWhere('TRUE'));
  }

  get done(): Counts {
    return this.finallyDone ?? this.countWhere('done = 1');
  }

  freedUsers(): Generator<readonly DoomedRecord[]> {
    return this.batches("freed = 1 AND collection = 'users'");
  }

  /** Yields the phase's records to delete, except users. */
  *ofPhase(phase: number, part: Part): Generator<readonly DoomedRecord[]> {
    const isEarly = part === 'early';
    yield* this.batches(`phase = ? AND collection <> 'users' AND early = ${isEarly ? 1 : 0}`, phase);
    if (isEarly) yield* this.batchesOf('dependents', 'phase = ? AND early = 1', phase);
  }

  users(): Generator<readonly DoomedRecord[]> {
    return this.ofGroup('users');
  }

  ofGroup(group: DeletionGroup): Generator<readonly DoomedRecord[]> {
    const names = collections.filter((collection) => deletionGroup(collection) === group);
    return this.batches(`collection IN (${names.map((name) => `'${name}'`).join(', ')})`);
  }

  [Symbol.dispose](): void {
    this.finallyDone = this.done;
    this.database[Symbol.dispose]();
  }

  *along(): Generator<readonly AlongDocument[]> {
    const sql = `SELECT path, collection, id, org FROM along WHERE path > ? ORDER BY path LIMIT ${BATCH}`;
    for (let after = ''; ; ) {
      const rows = this.database.all(sql, after).map((columns) => alongRow.parse(columns));
      const last = rows.at(-1);
      if (last === undefined) return;
      after = last.path;
      yield rows.map(({ collection, id, org }) => ({ key: { collection, id }, orgId: org }));
    }
  }

  private addTo(table: 'deletions' | 'dependents', { key, section, orgId }: DoomedRecord): void {
    this.database.run(
      `INSERT OR IGNORE INTO ${table} (path, collection, id, section, org, phase) VALUES (?, ?, ?, ?, ?, ?)`,
      ...[documentPath(key), key.collection, key.id, section.name, orgId, section.phase],
    );
  }

  private batches(condition: string, ...values: readonly number[]): Generator<readonly DoomedRecord[]> {
    return this.batchesOf('deletions', condition, ...values);
  }

  private *batchesOf(
    table: 'deletions' | 'dependents',
    condition: string,
    ...values: readonly number[]
  ): Generator<readonly DoomedRecord[]> {
    const sql = `SELECT path, collection, id, section, org FROM ${table} WHERE ${condition} AND path > ? ORDER BY path LIMIT ${BATCH}`;
    for (let after = ''; ; ) {
      const rows = this.database.all(sql, ...values, after).map((columns) => row.parse(columns));
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
    const counts = this.database.all(sql).map((columns) => countRow.parse(columns));
    return Object.fromEntries(counts.map(({ section, records }) => [section, records]));
  }

  private finds(sql: string, path: string): boolean {
    return this.database.statement(sql).get(path) !== undefined;
  }
}

/** The deletions of a mirroring import, as the functions that write the file's records see them. */
export interface Mirror {
  readonly deletions: Deletions;
  /**
   * True if the import deletes the records in `deletions`. If false, references to these records count as missing, but
   * the records stay and keep their names.
   */
  readonly isDeleting: boolean;
  /** The ids of the organisations in which the file may replace records that other calls have changed. */
  readonly adopts: ReadonlySet<string>;
  /**
   * Called in a transaction that writes a record of the file and also deletes the stored records that have its names.
   */
  readonly onFreeing: OnDeleting;
  /**
   * Called after the deletion of a stored record whose name another record needed, with the path of the deleted record.
   */
  readonly onFreed: (path: string) => void;
  /** Called with the outcome of each record; returns the outcome to report. */
  readonly onSettled: (path: string, outcome: RecordOutcome) => RecordOutcome;
}

/** True if the import deletes a stored record; false if the record only counts as missing. */
export function isDeleted(path: string, mirror: Mirror | undefined): boolean {
  return mirror?.isDeleting === true && isDoomed(path, mirror);
}

/**
 * True if the file's records cannot refer to a stored record, because the record counts as missing. The import may
 * still keep the record.
 */
export function isDoomed(path: string, mirror: Mirror | undefined): boolean {
  return mirror?.deletions.has(path) === true;
}
