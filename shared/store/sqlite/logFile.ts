import { closeSync, fdatasync, fstatSync, openSync } from 'node:fs';
import { promisify } from 'node:util';
import { Worker } from 'node:worker_threads';
import { z } from 'zod';
import { shareRuns } from '../../async.ts';
import { log } from '../../log.ts';
import { WorkerPool } from '../../workerPool.ts';
import type { SqliteConnection } from './sqliteConnection.ts';
import type { Writer } from './writer.ts';

const syncData = promisify(fdatasync);

/**
 * The file of a database's write-ahead log. No other file of an open database may be opened without SQLite, because
 * closing a second descriptor would release SQLite's locks.
 */
export class LogFile {
  private descriptor: number | undefined;

  /**
   * @param connection a connection that has already read from the database, so that the log exists. It must stay open
   * as long as this object is in use, because closing the last connection deletes the log
   * @throws Error if the file system refuses to open the log
   */
  constructor(connection: SqliteConnection) {
    this.descriptor = openSync(`${connection.file}-wal`, 'r+');
  }

  /**
   * Resolves when all earlier commits are on the disk. This replaces SQLite's own syncing, which would block the main
   * thread.
   */
  readonly sync: () => Promise<void> = shareRuns(async () => {
    if (this.descriptor !== undefined) await syncData(this.descriptor);
  });

  /**
   * Returns the size of the log in bytes. This size is close to the size of the content in use, because once all
   * content is in the database, the next commit shortens the log to a few megabytes.
   */
  size(): number {
    // The descriptor is undefined if the store was closed before this snapshot: closing the store also closes the file.
    return this.descriptor === undefined ? 0 : fstatSync(this.descriptor).size;
  }

  close(): void {
    if (this.descriptor !== undefined) closeSync(this.descriptor);
    this.descriptor = undefined;
  }
}

/** When the log has grown by this number of bytes, its content is moved into the database. */
const GROWTH_BYTES = 32 * 2 ** 20;
/** The maximum number of pages to move from the log into the database while the writer waits. */
const LAST_PAGES = 256;

/**
 * The result of a checkpoint: the number of pages in the log, and how many of them are in the database. Both are -1
 * while another process runs a checkpoint.
 */
const progressSchema = z.object({ log: z.number(), checkpointed: z.number() });

/**
 * `PASSIVE` moves the pages that no reader needs from the log into the database. `TRUNCATE` moves all pages, and
 * empties the log.
 */
type Mode = 'PASSIVE' | 'TRUNCATE';

// The program of the worker thread. It is a text without imports, so that a bundle needs no further file.
const program = `
  const { parentPort, workerData } = require('node:worker_threads');
  const { DatabaseSync } = require('node:sqlite');
  const database = new DatabaseSync(workerData);
  database.exec('PRAGMA synchronous = FULL');
  const move = (mode) => database.prepare('PRAGMA wal_checkpoint(' + mode + ')').get();
  parentPort.on('message', (mode) => parentPort.postMessage(move(mode)));
`;

/**
 * Moves the content of the write-ahead log into the database, in a worker thread, while the writer continues. If the
 * log still exceeds `CHECKPOINT_PAGES`, SQLite moves the content within a commit, which then takes a tenth of a second.
 */
export class Checkpoints {
  private readonly file: string;
  private readonly betweenCommits: Writer['between'];
  private readonly workers = new WorkerPool<Mode, unknown>(() => this.start(), 1);
  private worker: Worker | undefined;
  private running: Promise<void> | undefined;
  private begunAt = 0;

  /**
   * @param betweenCommits runs a function while no commit adds pages to the log. If this function moves all pages into
   * the database, the next commit reuses the log from its start
   */
  constructor(file: string, betweenCommits: Writer['between']) {
    this.file = file;
    this.betweenCommits = betweenCommits;
  }

  /**
   * Starts a checkpoint if the log has grown enough since the last checkpoint, or if it exceeds its limit. In the
   * second case, all snapshots have ended, so no reader needs the log.
   */
  afterCommit(logBytes: number, isOverLimit: boolean): void {
    if (logBytes < this.begunAt) this.begunAt = 0;
    if (this.running !== undefined || (!isOverLimit && logBytes < this.begunAt + GROWTH_BYTES)) return;
    this.begunAt = logBytes;
    this.running = this.run(isOverLimit).finally(() => {
      this.running = undefined;
    });
  }

  private async run(isOverLimit: boolean): Promise<void> {
    try {
      if (isOverLimit) await this.betweenCommits(() => this.move('TRUNCATE'));
      else if (await this.moveMost()) await this.betweenCommits(() => this.move('PASSIVE'));
    } catch (error) {
      log.warn({ stack_trace: error }, 'the write-ahead log was not moved into the database');
      await this.stop();
    }
  }

  /**
   * Moves pages into the database, until only a few remain in the log. Returns false if a snapshot still needs the
   * remaining pages.
   */
  private async moveMost(): Promise<boolean> {
    for (let before = -1; ; ) {
      const { log: pages, checkpointed } = await this.move('PASSIVE');
      if (pages - checkpointed <= LAST_PAGES) return true;
      if (checkpointed <= before) return false;
      before = checkpointed;
    }
  }

  private async move(mode: Mode): Promise<z.infer<typeof progressSchema>> {
    return progressSchema.parse(await this.workers.run(mode));
  }

  private start(): Worker {
    this.worker = new Worker(program, { eval: true, workerData: this.file });
    return this.worker;
  }

  private async stop(): Promise<void> {
    await this.worker?.terminate();
    this.worker = undefined;
  }

  async close(): Promise<void> {
    await this.running;
    await this.stop();
  }
}
