import { statSync } from 'node:fs';
import type { Snapshot } from '../store.ts';
import type { LogFile } from './logFile.ts';
import { openSnapshot, type SqliteSnapshot } from './snapshot.ts';

/** A database file and the limit of its write-ahead log. */
export interface LogLimit {
  readonly file: string;
  readonly log: LogFile;
  readonly busyTimeout: number;
  /** How much larger than the database the log may become. */
  readonly logMarginBytes: number;
}

const CHECK_INTERVAL_MILLISECONDS = 500;

/**
 * The open snapshots of one store. SQLite keeps every page that is written after the oldest snapshot in the write-ahead
 * log, so all snapshots end when the log exceeds its limit: writers continue.
 */
export class Snapshots {
  private readonly limit: LogLimit;
  private readonly opened = new Set<SqliteSnapshot>();
  private timer: NodeJS.Timeout | undefined;

  constructor(limit: LogLimit) {
    this.limit = limit;
  }

  /** Opens a snapshot. As long as one is open, a timer watches the log, which other processes write too. */
  open(): Snapshot {
    const { file, busyTimeout } = this.limit;
    const snapshot = openSnapshot(file, busyTimeout, () => {
      this.opened.delete(snapshot);
      if (this.opened.size === 0) clearInterval(this.timer);
    });
    if (this.opened.size === 0) this.timer = setInterval(() => this.limitLog(), CHECK_INTERVAL_MILLISECONDS).unref();
    this.opened.add(snapshot);
    return snapshot;
  }

  /** Ends all snapshots if the log, of this size, exceeds its limit; returns whether it does. */
  limitLog(logBytes = this.limit.log.usedBytes()): boolean {
    const { file, logMarginBytes } = this.limit;
    if (logBytes <= logMarginBytes || logBytes <= sizeOf(file) + logMarginBytes) return false;
    for (const snapshot of this.opened) snapshot.end();
    return true;
  }
}

function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}
