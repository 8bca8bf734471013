import { closeSync, fdatasync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { auditUnwritable } from '../../errors/storeErrors.ts';
import type { AuditEvent, AuditTrail } from '../auditEvent.ts';
import {
  appendLines,
  type FileLimits,
  listTrailFiles,
  openTrailFile,
  openTrailLock,
  rotationTime,
  type TrailLock,
} from './trailFiles.ts';

const syncData = promisify(fdatasync);

/** The options of a trail in files. */
export interface AuditFileOptions extends Partial<FileLimits> {
  /** Milliseconds for which rotated files are kept after their last event; by default forever. */
  readonly retentionMs?: number | undefined;
}

const MAX_BYTES = 16 * 2 ** 20;
const DAY_MS = 86_400_000;
/** Without it, the events of a quiet instance would be kept until the file is large. */
const MAX_AGE_MS = 30 * DAY_MS;

interface Waiting {
  readonly line: string;
  readonly settle: PromiseWithResolvers<void>;
}

/**
 * An audit trail in `audit.ndjson` of a directory, with one JSON object per line. Several processes may append to it.
 * Events that arrive while others are written share the next write.
 */
export class AuditFile implements AuditTrail {
  private readonly directory: string;
  private readonly limits: FileLimits;
  private readonly retentionMs: number | undefined;
  private lock: TrailLock | undefined;
  private waiting: Waiting[] = [];
  private isWriting = false;
  private writing: Promise<void> | undefined;

  constructor(directory: string, { maxBytes = MAX_BYTES, maxAgeMs = MAX_AGE_MS, retentionMs }: AuditFileOptions = {}) {
    this.directory = directory;
    this.limits = { maxBytes, maxAgeMs };
    this.retentionMs = retentionMs;
  }

  append(event: AuditEvent): Promise<void> {
    const settle = Promise.withResolvers<void>();
    this.waiting.push({ line: `${JSON.stringify(event)}\n`, settle });
    if (!this.isWriting) this.writing = this.writeAll();
    return settle.promise;
  }

  private async writeAll(): Promise<void> {
    this.isWriting = true;
    // All events of this turn of the event loop share the first write.
    await Promise.resolve();
    while (this.waiting.length > 0) {
      let batch: readonly Waiting[] = [];
      const takeBatch = () => {
        batch = this.waiting;
        this.waiting = [];
        return batch.map(({ line }) => line).join('');
      };
      try {
        this.lock ??= openTrailLock(this.directory);
        const descriptor = await this.lock.hold(() => this.write(takeBatch()));
        // Without the lock: a process that appends all the time must leave others their turn.
        await syncData(descriptor).finally(() => closeSync(descriptor));
        for (const { settle } of batch) settle.resolve();
      } catch (error) {
        if (batch.length === 0) takeBatch();
        for (const { settle } of batch) settle.reject(auditUnwritable(error));
      }
    }
    // In the same turn as the last look at the waiting events, so that none is overlooked.
    this.isWriting = false;
  }

  /** Appends lines to the current file, whose open descriptor it returns. */
  private write(lines: string): number {
    const now = new Date();
    const { descriptor, isRotated } = openTrailFile(this.directory, lines.length, now, this.limits);
    try {
      if (isRotated) this.deleteExpired(now);
      appendLines(descriptor, lines);
      return descriptor;
    } catch (error) {
      closeSync(descriptor);
      throw error;
    }
  }

  private deleteExpired(now: Date): void {
    if (this.retentionMs === undefined) return;
    const earliest = now.getTime() - this.retentionMs;
    for (const name of listTrailFiles(this.directory)) {
      const time = rotationTime(name);
      if (time !== undefined && time.getTime() < earliest) rmSync(join(this.directory, name));
    }
  }

  async close(): Promise<void> {
    await this.writing;
    this.lock?.close();
    this.lock = undefined;
  }
}
