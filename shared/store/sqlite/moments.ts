import { statSync } from 'node:fs';
import { snapshotEnded } from '../../errors/storeErrors.ts';
import { yieldToEventLoop } from '../../turns.ts';
import type { Moment, StoredRange } from '../database.ts';
import type { FieldName } from '../documentFields.ts';
import { PARTITION_SCAN_BATCH, SCANNED_CHARACTERS, type StoredDocument } from '../store.ts';
import { column, toScannedDocument } from './documents.ts';
import type { LogFile } from './logFile.ts';
import { connectSqlite, fromSqliteError, type SqliteConnection } from './sqliteConnection.ts';

export interface LogLimit {
  readonly file: string;
  readonly log: LogFile;
  /** The write-ahead log may be larger than the database by this number of bytes. */
  readonly logMarginBytes: number;
}

const LOG_CHECK_INTERVAL_MS = 500;

/**
 * The moments of a database that are open for reading. A moment is a past state of the database. While a moment is
 * open, SQLite keeps every written page in the write-ahead log. If the log exceeds its limit, this class ends all
 * moments, so that writers can continue.
 */
export class Moments {
  private readonly limit: LogLimit;
  private readonly opened = new Set<SqliteMoment>();
  private timer: NodeJS.Timeout | undefined;

  constructor(limit: LogLimit) {
    this.limit = limit;
  }

  /**
   * Opens a moment. While a moment is open, a timer checks the size of the log, because other processes also write to
   * the log.
   */
  open(): SqliteMoment {
    const moment = openSqliteMoment(this.limit.file, () => {
      this.opened.delete(moment);
      if (this.opened.size === 0) clearInterval(this.timer);
    });
    if (this.opened.size === 0) this.timer = setInterval(() => this.limitLog(), LOG_CHECK_INTERVAL_MS).unref();
    this.opened.add(moment);
    return moment;
  }

  /**
   * Ends all moments if the log exceeds its limit.
   * @param logBytes the size of the log in bytes
   * @returns whether the log exceeds its limit
   */
  limitLog(logBytes = this.limit.log.size()): boolean {
    const { file, logMarginBytes } = this.limit;
    if (logBytes <= logMarginBytes || logBytes <= sizeOf(file) + logMarginBytes) return false;
    for (const moment of this.opened) moment.end();
    return true;
  }
}

function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}

/** A moment that `Moments` can end before its reader disposes of it. */
export interface SqliteMoment extends Moment {
  /**
   * Returns the connection that reads this state of the database.
   * @throws IdentityError ABORTED if the moment has ended
   */
  connection(): SqliteConnection;
  end(): void;
}

/**
 * Opens a connection that continues to read the present state until it is closed.
 * @param onEnd called once, when the moment has ended
 */
function openSqliteMoment(file: string, onEnd: () => void): SqliteMoment {
  const connection = connectSqlite({ file });
  connection.execute('BEGIN');
  // Read once, because the first read fixes the state that a transaction reads; BEGIN does not.
  connection.prepare('SELECT count(*) FROM (SELECT 1 FROM documents LIMIT 1)').get();
  let hasEnded = false;
  const end = () => {
    if (hasEnded) return;
    hasEnded = true;
    connection.close();
    onEnd();
  };
  return {
    readTime: new Date(),
    connection: () => {
      if (hasEnded) throw snapshotEnded();
      return connection;
    },
    end,
    [Symbol.asyncDispose]: async () => end(),
  };
}

/**
 * The numbers of documents in a batch. `attended` applies while requests arrive: batches are then small, because each
 * request waits for the current batch.
 */
const batchSizes = { attended: 100, unattended: 500 };

export async function* scanSqlite(
  range: StoredRange,
  moment: SqliteMoment,
  isAttended: () => boolean,
): AsyncGenerator<readonly StoredDocument[]> {
  const { sql, parameters } = buildSelect(range);
  const connection = moment.connection();
  const size = () =>
    'partitions' in range ? PARTITION_SCAN_BATCH : batchSizes[isAttended() ? 'attended' : 'unattended'];
  let rows: Iterator<unknown> | undefined;
  try {
    rows = connection.prepareAnew(sql).iterate(...parameters);
    for (;;) {
      await yieldToEventLoop();
      moment.connection();
      const { documents, isLast } = takeBatch(rows, range.fields, size());
      if (documents.length > 0) yield documents;
      if (isLast) return;
    }
  } catch (reason) {
    throw fromSqliteError(reason);
  } finally {
    if (connection.isOpen()) rows?.return?.();
  }
}

function takeBatch(rows: Iterator<unknown>, fields: readonly FieldName[], size: number) {
  const documents: StoredDocument[] = [];
  let characters = 0;
  while (documents.length < size && characters < SCANNED_CHARACTERS) {
    const { done, value } = rows.next();
    if (done === true) return { documents, isLast: true };
    if (!Array.isArray(value)) continue;
    documents.push(toScannedDocument(value, fields));
    for (const cell of value) if (typeof cell === 'string') characters += cell.length;
  }
  return { documents, isLast: false };
}

function buildSelect(range: StoredRange): { sql: string; parameters: string[] } {
  const columns = [...range.fields.map(column), 'id'].join(', ');
  const conditions: [string, string | undefined][] = [['collection = ?', range.collection], ...buildConditions(range)];
  const present = conditions.flatMap(([sql, value]) => (value === undefined ? [] : [{ sql, value }]));
  const order = 'partitions' in range ? '"partition", id' : 'id';
  return {
    sql: `SELECT ${columns} FROM documents WHERE ${present.map(({ sql }) => sql).join(' AND ')} ORDER BY ${order}`,
    parameters: present.map(({ value }) => value),
  };
}

function buildConditions(range: StoredRange): [string, string | undefined][] {
  if ('partitions' in range) {
    const { from, to } = range.partitions;
    return [
      ['"partition" >= ?', from],
      ['"partition" < ?', to],
    ];
  }
  return [
    ['"partition" = ?', range.partition],
    ['id >= ?', range.from],
  ];
}
