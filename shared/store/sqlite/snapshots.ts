// Snapshots of a SQLite database, and their scans.

import { statSync } from 'node:fs';
import { snapshotEnded } from '../../errors/storeErrors.ts';
import { yieldToEventLoop } from '../../turns.ts';
import { type FieldName, fieldNames } from '../documentFields.ts';
import {
  PARTITION_SCAN_BATCH,
  SCANNED_CHARACTERS,
  type ScanRange,
  type Snapshot,
  type StoredDocument,
} from '../store.ts';
import { column, selectDocuments, toScannedDocument } from './documents.ts';
import type { LogFile } from './logFile.ts';
import { connectSqlite, fromSqliteError, type SqliteConnection } from './sqliteConnection.ts';

/** A database file and the limit of its write-ahead log. */
export interface LogLimit {
  readonly file: string;
  readonly log: LogFile;
  /** How much larger than the database the log may become. */
  readonly logMarginBytes: number;
}

const LOG_CHECK_INTERVAL_MS = 500;

/**
 * The open snapshots of one store. SQLite keeps every page that is written after the oldest snapshot in the write-ahead
 * log, so all snapshots end when the log exceeds its limit: writers continue.
 */
export class Snapshots {
  private readonly limit: LogLimit;
  private readonly isAttended: () => boolean;
  private readonly opened = new Set<SqliteSnapshot>();
  private timer: NodeJS.Timeout | undefined;

  constructor(limit: LogLimit, isAttended: () => boolean) {
    this.limit = limit;
    this.isAttended = isAttended;
  }

  /** Opens a snapshot. As long as one is open, a timer watches the log, which other processes write too. */
  open(): Snapshot {
    const batchSize = () => batchSizes[this.isAttended() ? 'attended' : 'unattended'];
    const snapshot = openSqliteSnapshot(this.limit.file, batchSize, () => {
      this.opened.delete(snapshot);
      if (this.opened.size === 0) clearInterval(this.timer);
    });
    if (this.opened.size === 0) this.timer = setInterval(() => this.limitLog(), LOG_CHECK_INTERVAL_MS).unref();
    this.opened.add(snapshot);
    return snapshot;
  }

  /** Ends all snapshots if the log, of this size, exceeds its limit; returns whether it does. */
  limitLog(logBytes = this.limit.log.size()): boolean {
    const { file, logMarginBytes } = this.limit;
    if (logBytes <= logMarginBytes || logBytes <= sizeOf(file) + logMarginBytes) return false;
    for (const snapshot of this.opened) snapshot.end();
    return true;
  }
}

function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}

/** A snapshot that can be ended before its reader disposes of it. */
export interface SqliteSnapshot extends Snapshot {
  /** Releases the state that the snapshot keeps. Later reads throw. */
  end(): void;
}

/**
 * Opens a separate connection whose reads all return the present state of the database.
 * @param batchSize returns the size of a scan's next batch
 * @param onEnd is called once, when the snapshot has ended
 */
function openSqliteSnapshot(file: string, batchSize: () => number, onEnd: () => void): SqliteSnapshot {
  const connection = connectSqlite({ file });
  connection.execute('BEGIN');
  // A read transaction fixes its state at its first read, not at BEGIN.
  connection.prepare('SELECT count(*) FROM (SELECT 1 FROM documents LIMIT 1)').get();
  let hasEnded = false;
  const end = () => {
    if (hasEnded) return;
    hasEnded = true;
    connection.close();
    onEnd();
  };
  const requireOpen = () => {
    if (hasEnded) throw snapshotEnded();
  };
  return {
    readTime: new Date(),
    getMany: async (keys, fields) => {
      requireOpen();
      return selectDocuments(connection, keys, fields).documents;
    },
    scan: (range) => withScanErrors(scanSqlite(connection, { range, batchSize, requireOpen })),
    end,
    [Symbol.asyncDispose]: async () => end(),
  };
}

async function* withScanErrors(
  batches: AsyncGenerator<readonly StoredDocument[]>,
): AsyncGenerator<readonly StoredDocument[]> {
  try {
    yield* batches;
  } catch (reason) {
    throw fromSqliteError(reason);
  }
}

/** Small while requests arrive, which wait for each batch. */
const batchSizes = { attended: 100, unattended: 500 };

/** Reads the documents of a range in batches, and yields to the event loop before each one. */
async function* scanSqlite(
  connection: SqliteConnection,
  { range, batchSize, requireOpen }: { range: ScanRange; batchSize: () => number; requireOpen: () => void },
): AsyncGenerator<readonly StoredDocument[]> {
  requireOpen();
  const { sql, parameters } = buildSelect(range);
  const size = 'partitions' in range ? () => PARTITION_SCAN_BATCH : batchSize;
  const rows: Iterator<unknown> = connection.prepareAnew(sql).iterate(...parameters);
  try {
    for (;;) {
      await yieldToEventLoop();
      requireOpen();
      const { documents, isLast } = takeBatch(rows, range.fields ?? fieldNames, size());
      if (documents.length > 0) yield documents;
      if (isLast) return;
    }
  } finally {
    if (connection.isOpen()) rows.return?.();
  }
}

/** Takes at most `size` documents; fewer if they are large. */
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

function buildSelect(range: ScanRange): { sql: string; parameters: string[] } {
  const columns = [...(range.fields ?? fieldNames).map(column), 'id'].join(', ');
  const conditions: [string, string | undefined][] = [['collection = ?', range.collection], ...buildConditions(range)];
  const present = conditions.flatMap(([sql, value]) => (value === undefined ? [] : [{ sql, value }]));
  const order = 'partitions' in range ? '"partition", id' : 'id';
  return {
    sql: `SELECT ${columns} FROM documents WHERE ${present.map(({ sql }) => sql).join(' AND ')} ORDER BY ${order}`,
    parameters: present.map(({ value }) => value),
  };
}

function buildConditions(range: ScanRange): [string, string | undefined][] {
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
